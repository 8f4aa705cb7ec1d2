/** Everything here is printed to standard error, so that the result of a command on standard output can be piped. */

export const say = (line = '') => void process.stderr.write(`${line}\n`)

/** Without a terminal, a line is printed this often. */
const lineIntervalMs = 5000
/** In a terminal, the bar is drawn this often. */
const drawIntervalMs = 100
const barWidth = 30

export interface Progress {
  /** `done` of `total`, in the same unit. */
  update(done: number, total: number): void
  /** Ends the line of the bar. */
  end(): void
}

/** Shows how far a command is: a bar in a terminal, otherwise a line every few seconds. */
export function showProgress(what: string, stream: NodeJS.WriteStream = process.stderr): Progress {
  const intervalMs = stream.isTTY ? drawIntervalMs : lineIntervalMs
  let shownAt = stream.isTTY ? -Infinity : performance.now()
  let last = { done: 0, total: 0 }
  let isOpen = false

  const draw = () => {
    const { done, total } = last
    const part = total === 0 ? 1 : Math.min(1, done / total)
    const percent = `${Math.floor(part * 100)} %`.padStart(5)
    if (!stream.isTTY) return void stream.write(`${what}: ${percent.trim()}\n`)
    const bar = '█'.repeat(Math.round(part * barWidth)).padEnd(barWidth, '░')
    stream.write(`\r${what}  ${bar} ${percent}`)
    isOpen = true
  }
  return {
    update(done, total) {
      last = { done, total }
      if (performance.now() - shownAt < intervalMs) return
      shownAt = performance.now()
      draw()
    },
    end() {
      if (!stream.isTTY || !isOpen) return
      draw()
      stream.write('\n')
      isOpen = false
    },
  }
}
