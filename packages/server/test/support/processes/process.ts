import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '../../../../..')
const builds = resolve(import.meta.dirname, '../../dist')
/** The build of this process only, because other processes may build and run their own server at the same time. */
const build = join(builds, String(process.pid))
/** The program that `npm start` runs. `buildServer` writes it. */
export const serverProgram = join(build, 'main.js')
const programs = {
  server: [serverProgram],
  earlyAnswers: [join(build, 'early-answers.js')],
  fastServer: [join(build, 'fast-server.js')],
}

export interface ServerProcess {
  url: string
  /** Kills the process with SIGKILL, and waits for its end. */
  kill(): Promise<void>
  /** Ends the process with SIGTERM, and returns its exit code. */
  terminate(): Promise<number | null>
  child: ChildProcess
}

let isBuilt = false

/** Writes the program that `npm start` runs, and the programs that only tests run, once for all test files of this process. */
export function buildServer(): void {
  if (isBuilt) return
  if (existsSync(builds)) {
    const left = readdirSync(builds).filter((pid) => !isRunning(Number(pid)))
    for (const pid of left) rmSync(join(builds, pid), { recursive: true, force: true })
  }
  const further = ['early-answers', 'fast-server'].map(
    (name) => `packages/server/test/support/processes/${name}.ts`,
  )
  execFileSync(process.execPath, ['scripts/build.mjs', '--server', build, ...further], { cwd: root })
  isBuilt = true
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Killed when this process exits, so that an interrupted run leaves no server behind. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

const environment = (env: Record<string, string>) => ({
  PATH: process.env.PATH,
  LOG_LEVEL: 'fatal',
  HOST: '127.0.0.1',
  ...env,
})

/** Runs a server in its own process. Resolves when it answers. */
export async function startProcess(
  program: keyof typeof programs,
  env: Record<string, string>,
  {
    stdout = 'ignore',
    stderr = 'inherit',
    cwd = root,
  }: { stdout?: 'pipe' | 'ignore' | number; stderr?: 'pipe' | 'inherit'; cwd?: string } = {},
): Promise<ServerProcess> {
  const port = env.PORT ?? (await freePort())
  const child = spawn(process.execPath, programs[program], {
    cwd,
    env: environment({ PORT: String(port), ...env }),
    stdio: ['ignore', stdout, stderr],
  })
  const ended = once(child, 'exit')
  children.add(child)
  child.once('exit', () => children.delete(child))
  child.unref()
  // A failed test would otherwise leave the server running.
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
  for (const deadline = Date.now() + 90_000; !(await answers());) {
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

/** Runs a command of the program to its end. */
export async function runCommand(
  words: readonly string[],
  env: Record<string, string>,
  { cwd = root }: { cwd?: string } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [serverProgram, ...words], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr }
}

/** Runs a server that is expected not to start. Returns its exit code and its output. */
export async function failToStart(
  env: Record<string, string>,
  { cwd = root }: { cwd?: string } = {},
): Promise<{ code: number; says: string }> {
  const child = spawn(process.execPath, programs.server, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 90_000,
  })
  const [says, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { code, says }
}
