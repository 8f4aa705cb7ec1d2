import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'

/** The characters of lines that wait to be written: about 8,000 lines. More are lost if nobody reads the log. */
const maxWaitingLength = 1024 * 1024
/** About how many characters one write has. */
const maxWriteLength = 64 * 1024
/**
 * A write to a full pipe is retried after this time, because a file descriptor does not report when its pipe has room
 * again.
 */
const retryMs = 20
/** For how long `flushSync` retries. */
export const maxFlushMs = 250

export interface Output {
  fd: number
  /** Whether a write that would block fails with EAGAIN instead. True for pipes, sockets and terminals; false for files. */
  nonBlocking: boolean
}

interface Listeners {
  /** Called when a write fails, and not again until a write has succeeded. */
  onFailure(error: NodeJS.ErrnoException): void
  /** Called when a write succeeds after `lines` lines were lost. */
  onLost(lines: number): void
}

interface Chunk {
  bytes: Uint8Array
  lines: number
}

/**
 * Writes log lines to a file descriptor. Only `flushSync` blocks the event loop. Lines that do not fit into the buffer, and
 * lines that cannot be written, are lost and counted. Pino's own destination is not used, because it loops forever at exit
 * when a write fails.
 */
export class LogDestination {
  readonly #output: Output
  readonly #listeners: Listeners
  readonly #clock: Clock
  #waiting: string[] = []
  #waitingLength = 0
  /** The rest of a chunk that was written in part. It is written before the waiting lines. */
  #rest: Chunk | undefined
  /** Resolves when the last asynchronous write has ended. */
  #thread = Promise.resolve()
  #isScheduled = false
  #isFailing = false
  /** How many lines were lost since the last successful write. */
  #lost = 0

  constructor(output: Output, listeners: Listeners, clock: Clock = systemClock) {
    this.#output = output
    this.#listeners = listeners
    this.#clock = clock
  }

  write(line: string): void {
    if (this.#waitingLength + line.length > maxWaitingLength) {
      this.#lost++
      return
    }
    this.#waiting.push(line)
    this.#waitingLength += line.length
    if (this.#isScheduled) return
    this.#isScheduled = true
    // All lines of one iteration of the event loop are written together.
    setImmediate(() => this.#writeNext())
  }

  /**
   * Resolves when the asynchronous writes to a file have ended. `flushSync` does not wait for them, so its lines could come
   * before theirs.
   */
  async threadIsIdle(): Promise<void> {
    for (let last: Promise<void> | undefined; last !== this.#thread; await last) last = this.#thread
  }

  /** Writes the waiting lines before the process ends. Gives up after `maxFlushMs`, or when a write fails. */
  flushSync(): void {
    const deadline = performance.now() + maxFlushMs
    for (let chunk = this.#takeChunk(); chunk !== undefined; chunk = this.#takeChunk()) {
      const error = this.#writeSync(chunk)
      if (error === undefined) continue
      if (error.code !== 'EAGAIN' || performance.now() > deadline) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }

  #writeNext(): void {
    const chunk = this.#takeChunk()
    if (chunk === undefined) {
      this.#isScheduled = false
    } else if (this.#output.nonBlocking) {
      const error = this.#writeSync(chunk)
      if (error?.code === 'EAGAIN') this.#clock.setTimeout(() => this.#writeNext(), retryMs)
      else setImmediate(() => this.#writeNext())
    } else {
      // A disk may be slow, so a thread of Node's pool writes to it.
      this.#thread = new Promise((resolve) => {
        write(this.#output.fd, chunk.bytes, (error, written) => {
          this.#onWritten(chunk, error, written)
          this.#writeNext()
          resolve()
        })
      })
    }
  }

  #takeChunk(): Chunk | undefined {
    const rest = this.#rest
    this.#rest = undefined
    if (rest !== undefined || this.#waiting.length === 0) return rest
    let lines = 0
    for (let length = 0; lines < this.#waiting.length && length < maxWriteLength; lines++) {
      length += this.#waiting[lines]?.length ?? 0
    }
    const text = this.#waiting.splice(0, lines).join('')
    this.#waitingLength -= text.length
    return { bytes: Buffer.from(text), lines }
  }

  #writeSync(chunk: Chunk): NodeJS.ErrnoException | undefined {
    let error: NodeJS.ErrnoException | undefined
    let written = 0
    try {
      written = writeSync(this.#output.fd, chunk.bytes)
    } catch (thrown) {
      error = thrown as NodeJS.ErrnoException
    }
    this.#onWritten(chunk, error, written)
    return error
  }

  #onWritten(chunk: Chunk, error: NodeJS.ErrnoException | null | undefined, written: number): void {
    if (error?.code === 'EAGAIN') {
      this.#rest = chunk
    } else if (error) {
      this.#lost += chunk.lines
      if (!this.#isFailing) this.#listeners.onFailure(error)
      this.#isFailing = true
    } else {
      if (written < chunk.bytes.length) this.#rest = { ...chunk, bytes: chunk.bytes.subarray(written) }
      this.#isFailing = false
      if (this.#lost === 0) return
      const lost = this.#lost
      this.#lost = 0
      this.#listeners.onLost(lost)
    }
  }
}

/** Standard output, set up so that a slow reader does not block the server. */
export function standardOutput(): Output {
  // Reading `process.stdout` makes pipes and sockets non-blocking. Terminals stay blocking, and Ctrl-S would freeze the
  // server.
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } }
  if (process.stdout.isTTY) handle?.setBlocking?.(false)
  return { fd: 1, nonBlocking: process.stdout instanceof Socket }
}
