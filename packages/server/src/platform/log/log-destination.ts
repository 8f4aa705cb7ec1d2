import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'

/** In characters, about 8,000 lines: the memory that a reader which does not read may cost. */
const maxWaitingLength = 1024 * 1024
/** In characters. */
const maxWriteLength = 64 * 1024
/** A file descriptor does not report when its pipe has room again, so the write is retried. */
const retryMs = 20
/** How long `flushSync` retries. */
export const maxFlushMs = 250

export interface Output {
  fd: number
  /** Whether a write to a full pipe, socket or terminal fails with EAGAIN instead of blocking. False for files. */
  nonBlocking: boolean
}

interface Listeners {
  /** Called when writes start to fail, and not again until one has succeeded. */
  onFailure(error: NodeJS.ErrnoException): void
  /** Called when a write succeeds after `lines` lines were lost. */
  onLost(lines: number): void
}

interface Chunk {
  bytes: Uint8Array
  lines: number
}

/**
 * Writes log lines to a file descriptor without ever blocking. Lines beyond a bounded buffer, and lines that cannot be
 * written, are lost and counted. Pino's own destination loops forever at exit when a write fails.
 */
export class LogDestination {
  readonly #output: Output
  readonly #listeners: Listeners
  readonly #clock: Clock
  #waiting: string[] = []
  #waitingLength = 0
  /** The rest of a chunk that was written in part. It is written before the waiting lines. */
  #rest: Chunk | undefined
  #thread = Promise.resolve()
  #isScheduled = false
  #isFailing = false
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
    // The lines of one iteration of the event loop are one write.
    setImmediate(() => this.#writeNext())
  }

  /** Resolves when asynchronous writes to a file have ended. `flushSync` does not wait for them and may overtake them. */
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
      // A disk may be slow, so a thread of Node's pool waits for it.
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

/** Standard output, which never blocks for a slow reader. */
export function standardOutput(): Output {
  // Opening the stream makes pipes and sockets non-blocking. Node leaves terminals blocking: Ctrl-S would freeze the server.
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } }
  if (process.stdout.isTTY) handle?.setBlocking?.(false)
  return { fd: 1, nonBlocking: process.stdout instanceof Socket }
}
