import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type Program, programFile } from './programs.ts'
import { ServerProcess } from './server-process.ts'

const root = resolve(import.meta.dirname, '../../../../..')

type Environment = Record<string, string>

const environment = (env: Environment) => ({
  PATH: process.env.PATH,
  LOG_LEVEL: 'fatal',
  HOST: '127.0.0.1',
  ...env,
})

/** Runs a server in its own process, which ends with the test. Resolves when the server is ready. */
export async function startProcess(
  program: Program,
  env: Environment,
  {
    stdout = 'ignore',
    stderr = 'inherit',
    cwd = root,
  }: { stdout?: 'pipe' | 'ignore' | number; stderr?: 'pipe' | 'inherit'; cwd?: string } = {},
): Promise<ServerProcess> {
  const server = await ServerProcess.create({
    program: await programFile(program),
    env: environment(env),
    ...(env.PORT !== undefined && { port: Number(env.PORT) }),
    cwd,
    stdio: ['ignore', stdout, stderr],
  })
  onTestFinished(() => server.kill())
  await server.start()
  return server
}

async function spawnCommand(words: readonly string[], env: Environment, cwd = root) {
  return spawn(process.execPath, [await programFile('server'), ...words], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  })
}

/** Starts a command of the program, which ends with the test. */
export async function startCommand(words: readonly string[], env: Environment): Promise<ChildProcess> {
  const child = await spawnCommand(words, env)
  onTestFinished(() => void child.kill('SIGKILL'))
  // Nobody reads its output, which must not block it.
  child.stdout.resume()
  child.stderr.resume()
  return child
}

/** Runs a command of the program to its end. */
export async function runCommand(
  words: readonly string[],
  env: Environment,
  { cwd }: { cwd?: string } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = await spawnCommand(words, env, cwd)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr }
}

/** Runs a server that is expected not to start. Returns its exit code and its output. */
export async function failToStart(
  env: Environment,
  options: { cwd?: string } = {},
): Promise<{ code: number; says: string }> {
  const { code, stderr } = await runCommand([], env, options)
  return { code, says: stderr }
}
