import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { WriterJob, WriterMessage, WriterReport } from './writers.ts'

/** The process of `writers.ts`, which does one job after the other. */
export class WriterProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<never>
  #progress = { acknowledged: 0 }
  #onMessage = () => {}

  constructor() {
    this.#child = fork(new URL('./writers.ts', import.meta.url), {
      execArgv: ['--conditions=plenum-source', '--import', 'tsx'],
    })
    this.#exited = once(this.#child, 'exit').then(() => {
      throw new Error('The process of the writers exited.')
    })
    this.#exited.catch(() => {})
    this.#child.on('message', (message: WriterMessage) => {
      if (message.kind !== 'progress') return
      this.#progress = message
      this.#onMessage()
    })
  }

  /** How many writes of the job are acknowledged. */
  get acknowledged(): number {
    return this.#progress.acknowledged
  }

  start(job: WriterJob): void {
    this.#progress = { acknowledged: 0 }
    this.#child.send(job)
  }

  /** Resolves with true when this many writes of the job are acknowledged, or with false after a time. */
  async hasAcknowledged(count: number, limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<boolean>((resolve) => {
      const check = () => {
        if (this.acknowledged >= count) resolve(true)
      }
      this.#onMessage = check
      timer = setTimeout(() => resolve(false), limitMs)
      check()
    })
    try {
      return await Promise.race([enough, this.#exited])
    } finally {
      clearTimeout(timer)
      this.#onMessage = () => {}
    }
  }

  /** Ends the job. Writes in progress are still acknowledged if their answers arrive. */
  async stop(): Promise<WriterReport> {
    const stopped = new Promise<WriterReport>((resolve) => {
      const listen = (message: WriterMessage) => {
        if (message.kind !== 'stopped') return
        this.#child.off('message', listen)
        resolve(message)
      }
      this.#child.on('message', listen)
    })
    this.#child.send('stop')
    return Promise.race([stopped, this.#exited])
  }

  close(): void {
    this.#child.kill()
  }
}
