import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '../../../../..')
const builds = resolve(import.meta.dirname, '../../dist')
/** Of this process alone: others may build and run theirs meanwhile. */
const build = join(builds, String(process.pid))
/** What `npm start` runs, once `buildServer` has written it. */
export const serverProgram = join(build, 'main.js')
const programs = {
  server: [serverProgram],
  earlyAnswers: [join(build, 'early-answers.js')],
}

export interface ServerProcess {
  url: string
  /** Ends it as a power switch would, and waits until it is gone. */
  kill(): Promise<void>
  /** Asks it to end, and returns its exit code. */
  terminate(): Promise<number | null>
  child: ChildProcess
}

/** Writes the program that `npm start` runs, and the control of the kill tests. */
export function buildServer(): void {
  if (existsSync(builds)) {
    const left = readdirSync(builds).filter((pid) => !isRunning(Number(pid)))
    for (const pid of left) rmSync(join(builds, pid), { recursive: true, force: true })
  }
  const control = 'packages/server/test/support/processes/early-answers.ts'
  execFileSync(process.execPath, ['scripts/build.mjs', '--server', build, control], { cwd: root })
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

/** A run that is broken off leaves servers behind; they end with it. */
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

/** Runs a server in a process of its own; resolves when it answers. */
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
  // A test that fails would leave it behind, and at work.
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

/** Runs a server that will not start; gives its exit code and what it says. */
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
