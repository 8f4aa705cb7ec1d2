import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startGuard } from '../packages/server/test/support/services/guard.ts'
import { freePort } from '../packages/server/test/support/services/postgres.ts'

export interface ServerProcessOptions {
  /** The file of the built program. */
  program: string
  env: Record<string, string>
  /** For the log of the server. */
  folder: string
}

/** A server takes this long to start only if it never will. */
const startTimeoutMs = 60_000

/** A server in a process of its own, which can die and start again at the same address. */
export class ServerProcess {
  readonly port: number
  readonly url: string
  readonly #options: ServerProcessOptions
  readonly #guard: ReturnType<typeof startGuard>
  #child: ChildProcess | undefined

  static async create(options: ServerProcessOptions): Promise<ServerProcess> {
    return new ServerProcess(options, await freePort())
  }

  private constructor(options: ServerProcessOptions, port: number) {
    this.#options = options
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.#guard = startGuard(options.folder, false)
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when the server answers. */
  async start(env: Record<string, string> = {}): Promise<void> {
    this.#spawn(env)
    for (const deadline = Date.now() + startTimeoutMs; !(await this.isReady()); await pause(10)) {
      if (!this.isRunning || Date.now() > deadline)
        throw new Error(`The server did not start. Its log is in ${this.#options.folder}.`)
    }
  }

  #spawn(env: Record<string, string> = {}): void {
    const { program, folder } = this.#options
    const log = openSync(join(folder, `server-${this.port}.log`), 'a')
    this.#child = spawn(process.execPath, [program], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'warn',
        HOST: '127.0.0.1',
        PORT: String(this.port),
        ...this.#options.env,
        ...env,
      },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#guard.watch(this.#child)
  }

  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok
    } catch {
      return false
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Resolves with the exit code when the process has ended. */
  async ended(): Promise<number | null> {
    if (this.isRunning) await once(this.#child as ChildProcess, 'exit')
    return this.#child?.exitCode ?? null
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended()
  }

  /** Ends the process for good. */
  async close(): Promise<void> {
    await this.kill()
    await this.#guard.release()
  }
}
