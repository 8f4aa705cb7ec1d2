import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { startGuard } from '../services/guard.ts'
import { freePort } from '../services/postgres.ts'

export interface ServerProcessOptions {
  /** The file of the program. It listens on PORT. */
  program: string
  env?: NodeJS.ProcessEnv
  /** For Node. */
  execArgv?: readonly string[]
  /** Default: a random one. The server keeps it when it starts again. */
  port?: number
  cwd?: string
  /** Default: only errors are shown. */
  stdio?: StdioOptions
}

/** A server takes this long to start only if it never will. */
const startTimeoutMs = 90_000

/** A server in a process of its own, which can end and start again at the same address. It ends with this process. */
export class ServerProcess {
  readonly port: number
  readonly url: string
  readonly #options: ServerProcessOptions
  #child: ChildProcess | undefined

  /** Prepares a server that is not started yet. */
  static async create(options: ServerProcessOptions): Promise<ServerProcess> {
    return new ServerProcess(options, options.port ?? (await freePort()))
  }

  private constructor(options: ServerProcessOptions, port: number) {
    this.#options = options
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** The process that was started last. */
  get child(): ChildProcess {
    if (!this.#child) throw new Error('The server was never started.')
    return this.#child
  }

  get pid(): number {
    return this.child.pid as number
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when the server is ready. `more` are further settings of this start. */
  async start(more: NodeJS.ProcessEnv = {}): Promise<void> {
    const { program, env, execArgv = [], cwd, stdio = ['ignore', 'ignore', 'inherit'] } = this.#options
    const child = spawn(process.execPath, [...execArgv, program], {
      cwd,
      env: { PATH: process.env.PATH, HOST: '127.0.0.1', ...env, PORT: String(this.port), ...more },
      stdio,
    })
    this.#child = child
    child.unref()
    const guard = startGuard(tmpdir(), false)
    guard.watch(child)
    child.once('exit', () => guard.release())
    const deadline = Date.now() + startTimeoutMs
    // If the process has ended, another one may answer on its port.
    while (!(await this.isReady()) || !this.isRunning) {
      if (!this.isRunning) throw new Error(`The server ended (${child.signalCode ?? child.exitCode}).`)
      if (Date.now() > deadline) throw new Error('The server did not start.')
      await pause(50)
    }
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

  /** Its connections stay open, but it does nothing until `thaw`. */
  freeze(): void {
    this.signal('SIGSTOP')
  }

  thaw(): void {
    this.signal('SIGCONT')
  }

  /** Resolves when the process has ended: with its exit code, or with null if a signal ended it. */
  async ended(): Promise<number | null> {
    if (this.isRunning) {
      // While this process waits for the end, it must not run out of work and exit.
      this.child.ref()
      await once(this.child, 'exit')
    }
    return this.#child?.exitCode ?? null
  }

  /** Ends the process with SIGKILL, without a chance to finish anything. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended()
  }

  /** Asks the process to stop, and returns its exit code. */
  async terminate(): Promise<number | null> {
    this.signal('SIGTERM')
    return this.ended()
  }
}

/** Starts a server, and resolves when it is ready. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const server = await ServerProcess.create(options)
  try {
    await server.start()
  } catch (error) {
    await server.kill()
    throw error
  }
  return server
}
