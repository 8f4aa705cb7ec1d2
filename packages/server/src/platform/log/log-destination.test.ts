import { constants } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { fullPipe, openFile } from '../../../test/support/data/pipes.ts'
import { LogDestination } from './log-destination.ts'

describe('[O10] the destination of the log', () => {
  const openDestination = (path: string) => {
    const lost: number[] = []
    const failures: (string | undefined)[] = []
    const output = { fd: openFile(path, constants.O_WRONLY | constants.O_NONBLOCK), nonBlocking: true }
    const clock = new SteppedClock()
    const listeners = {
      onFailure: ({ code }: NodeJS.ErrnoException) => failures.push(code),
      onLost: (lines: number) => lost.push(lines),
    }
    const destination = new LogDestination(output, listeners, clock)
    return { destination, clock, lost, failures }
  }

  test('[O10.1] the log buffers lines for a slow reader up to 1 MiB, and drops and counts further lines', async () => {
    const pipe = fullPipe()
    const { destination, clock, lost, failures } = openDestination(pipe.path)
    const lines = Array.from(
      { length: 3000 },
      (_, index) => `${String(index).padStart(4, '0')} ${'x'.repeat(1000)}\n`,
    )
    for (const line of lines) destination.write(line)

    const kept = Math.floor((1024 * 1024) / 1006)
    let read = ''
    const readMore = () => {
      read += pipe.read()
      clock.step(20)
      return read.length
    }
    await expect.poll(readMore, { interval: 1 }).toBe(kept * 1006)
    expect(read).toBe(lines.slice(0, kept).join(''))
    expect(lost).toEqual([3000 - kept])
    expect(failures).toEqual([])

    destination.write('after\n')
    await expect.poll(() => pipe.read()).toBe('after\n')
  })

  test('[O10.2] flushSync writes the buffered lines, and returns without writing while the pipe is full', () => {
    const pipe = fullPipe()
    const { destination } = openDestination(pipe.path)
    destination.write('last words\n')
    // The pipe is full and nothing reads from it: a blocking write would wait forever.
    destination.flushSync()
    pipe.read()
    destination.flushSync()
    expect(pipe.read()).toBe('last words\n')
  })
})
