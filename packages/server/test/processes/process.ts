import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../../..')
const programs = {
  /** What `npm start` runs. */
  server: ['packages/server/dist/main.js'],
  earlyAnswers: ['--conditions=source', '--import', 'tsx', 'packages/server/test/processes/early-answers.ts'],
}

export interface ServerProcess {
  url: string
  /** Ends it as a power switch would, and waits until it is gone. */
  kill(): Promise<void>
  /** Asks it to end, and returns its exit code. */
  terminate(): Promise<number | null>
  child: ChildProcess
}

/** Writes the program that `npm start` runs. */
export function buildServer(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root })
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Runs a server in a process of its own; resolves when it answers. */
export async function startProcess(
  program: keyof typeof programs,
  env: Record<string, string>,
): Promise<ServerProcess> {
  const port = await freePort()
  const child = spawn(process.execPath, programs[program], {
    cwd: root,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'fatal', HOST: '127.0.0.1', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  // A test that fails leaves its server behind; it ends with the tests.
  process.once('exit', () => child.kill('SIGKILL'))
  child.unref()
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
  for (const deadline = Date.now() + 30_000; !(await answers());) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('The server did not start.')
    await new Promise((later) => setTimeout(later, 10))
  }
  return {
    url,
    child,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async terminate() {
      child.kill('SIGTERM')
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}
