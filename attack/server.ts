import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMeasuredProcess } from '../bench/process.ts'

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

/** Starts the built server in a process of its own. `main` is the program that `npm start` runs. */
export async function startServer(main: string, databaseUrl: string | undefined): Promise<ServerUnderAttack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-attack-'))
  const env = {
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only the attacks use',
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
    LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '0',
    // The default of the limit. `startMeasuredProcess` would switch the limit off.
    LIMIT_CREATED_BY_OPENING_PER_MINUTE: '100',
    LOG_LEVEL: 'fatal',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
  const loopWatch = new URL('./loop-watch.mjs', import.meta.url).href
  const { port, process: child, stop } = await startMeasuredProcess(main, env, ['--import', loopWatch])
  const kilobytes = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    async longestLoopMs() {
      child.send('loop')
      const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }]
      return longestMs
    },
    residentMegabytes: () => kilobytes('VmRSS') / 1024,
    peakMegabytes: () => kilobytes('VmHWM') / 1024,
    // 5 resets VmHWM (proc(5)).
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    async stop() {
      await stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
