import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startGuard } from './guard.ts'
import { freePort } from './postgres.ts'
import { findOrInstall, redisProgram } from './programs.ts'

export interface RedisService {
  readonly url: string
  readonly pid: number
  /** Ends the connections of all links between servers. */
  killLinks(): Promise<void>
  /** Kills the process with SIGKILL, and waits for its end. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  restart(): Promise<void>
  /** Ends it for good. */
  stop(): Promise<void>
}

let started: Promise<RedisService> | undefined

/** Starts a Redis when it is first needed. It ends with this process, and all tests of the process share it. */
export const redisForTests = (): Promise<RedisService> => (started ??= startRedis())

export async function startRedis(): Promise<RedisService> {
  const program = findOrInstall(redisProgram)
  const port = await freePort()
  const dataDir = fs.mkdtempSync(join(tmpdir(), 'plenum-redis-'))
  const guard = startGuard(dataDir, true)
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: dataDir }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const url = `redis://127.0.0.1:${port}`
  const admin = new Redis(url, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: 100 })
  admin.on('error', () => {})
  const start = async () => {
    const server = spawn(program, args, { cwd: dataDir, stdio: 'ignore', detached: true })
    guard.watch(server)
    server.unref()
    await admin.ping().catch((cause: unknown) => {
      throw new Error(`Redis did not start: ${program} ${args.join(' ')}`, { cause })
    })
    return server
  }
  let server = await start()
  const kill = async () => {
    if (server.kill('SIGKILL')) await once(server, 'exit')
  }
  return {
    url,
    get pid() {
      return server.pid as number
    },
    kill,
    async restart() {
      await kill()
      server = await start()
    },
    async stop() {
      admin.disconnect()
      await kill()
      guard.release()
    },
    async killLinks() {
      const clients = String(await admin.client('LIST'))
      for (const line of clients.split('\n').filter((one) => one.includes(' name=plenum-link '))) {
        await admin.client('KILL', 'ID', Number(/^id=(\d+) /.exec(line)?.[1]))
      }
    },
  }
}
