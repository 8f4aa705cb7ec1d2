import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programFile } from '../packages/server/test/support/processes/programs.ts'
import { startServerProcess } from '../packages/server/test/support/processes/server-process.ts'

export interface ServerUnderAttack {
  url: string
  pid: number
  /** The longest time that the event loop was held since the last call. */
  longestLoopMs(): Promise<number>
  residentMegabytes(): number
  /** Peak memory of the process since `forgetPeak` was called. */
  peakMegabytes(): number
  forgetPeak(): void
  stop(): Promise<void>
}

/** Starts the built server in a process of its own. */
export async function startServer(
  databaseUrl: string | undefined,
  heapMegabytes?: number,
): Promise<ServerUnderAttack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-attack-'))
  const env = {
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only the attacks use',
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
    LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
  const loopWatch = new URL('./loop-watch.mjs', import.meta.url).href
  const server = await startServerProcess({
    program: await programFile('server'),
    env,
    execArgv: [
      '--import',
      loopWatch,
      ...(heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`]),
    ],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { url, pid, child } = server
  const kilobytes = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return {
    url,
    pid,
    async longestLoopMs() {
      child.send('loop')
      const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }]
      return longestMs
    },
    residentMegabytes: () => kilobytes('VmRSS') / 1024,
    peakMegabytes: () => kilobytes('VmHWM') / 1024,
    // 5 resets VmHWM (proc(5)).
    forgetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
    async stop() {
      await server.terminate()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
