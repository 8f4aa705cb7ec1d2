import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'

export interface MeasuredProcess {
  port: number
  process: ChildProcess
  cpuMicroseconds(): number
  residentKilobytes(): number
  stop(): Promise<void>
}

/** Starts a server in a process of its own. Its CPU time and memory are read from the kernel. */
export async function startMeasuredProcess(
  script: string,
  env: Record<string, string>,
  execArgv: string[] = [],
): Promise<MeasuredProcess> {
  const port = await freePort()
  const child = fork(new URL(script, import.meta.url), {
    env: {
      ...process.env,
      LOG_LEVEL: 'warn',
      PORT: String(port),
      HOST: '127.0.0.1',
      // Unlimited: a few users open thousands of documents.
      LIMIT_CREATED_BY_OPENING_PER_MINUTE: '0',
      ...env,
    },
    execArgv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // Kills the server when this process exits, so that a run that fails leaves no process behind.
  const kill = () => void child.kill()
  process.once('exit', kill)
  for (let attempt = 0; ; attempt++) {
    try {
      await fetch(`http://127.0.0.1:${port}/healthz`)
      break
    } catch (error) {
      if (attempt > maxStartAttempts) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  return {
    port,
    process: child,
    cpuMicroseconds: () => cpuMicrosecondsOf(child.pid as number),
    residentKilobytes() {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
    },
    async stop() {
      process.off('exit', kill)
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Sums the nanoseconds of all threads of a process, which are finer than the ticks of /proc/PID/stat. */
export function cpuMicrosecondsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
}

/** Limits the attempts to reach the server, with a pause of 50 ms after each. */
const maxStartAttempts = 200

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
