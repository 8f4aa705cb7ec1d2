import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { type RedisService, startRedis } from '../../packages/server/test/support/services/redis.ts'
import { type PostgresService, startPostgres } from '../../packages/server/test/support/services/postgres.ts'
import type { Target } from '../fan-out/client.ts'
import { preparePlenum } from '../fan-out/contenders.ts'
import { yWebsocket } from '../fan-out/dialects.ts'
import { postgresTimes, timeBetween } from '../postgres-times.ts'
import { cpuMicrosecondsOf, startMeasuredServer } from '../process.ts'

/** How the servers of a cluster reach each other. With `polling`, no message passes between them. */
export const linkNames = ['notify', 'redis', 'polling'] as const
export type LinkName = (typeof linkNames)[number]

/** What the servers use. All clusters of a run share them, and each cluster has a database of its own. */
export interface Services {
  postgres: PostgresService
  redis: RedisService
  /** The bytes that PostgreSQL has written to its log. */
  walBytes(): Promise<number>
  stop(): Promise<void>
}

/** What a cluster used in some time. Times are CPU microseconds. */
export interface Usage {
  seconds: number
  /** Of each server. */
  servers: readonly number[]
  postgres: number
  redis: number
  walBytes: number
}

/** Some servers on one database. */
export interface Cluster {
  servers: readonly ServerProcess[]
  /** The credentials of the API key. */
  headers: Record<string, string>
  /** How a client opens the document with this name. The clients take turns on the servers. */
  target(room: string, client: number, server?: number): Target
  /** Begins to measure. The returned function returns what was used since then. */
  measure(): Promise<() => Promise<Usage>>
  /** A counter or gauge, summed over all labels, of each server. Servers update it at most twice a second. */
  readMetric(line: string): Promise<number[]>
  stop(): Promise<void>
}

/** A port on which no program listens, so that servers cannot reach each other. */
const unreachableUrl = 'postgresql://postgres@127.0.0.1:1/none'

export async function startServices(): Promise<Services> {
  const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()])
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  return {
    postgres,
    redis,
    async walBytes() {
      const { rows } = await admin.query<{ bytes: string }>(
        `select pg_current_wal_insert_lsn() - '0/0' as bytes`,
      )
      return Number(rows[0]?.bytes)
    },
    async stop() {
      await admin.end()
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}

export async function startCluster(
  services: Services,
  link: LinkName,
  serverCount: number,
): Promise<Cluster> {
  const { postgres, redis } = services
  const url = await postgres.createDatabase()
  const database = new URL(url).pathname.slice(1)
  const env = {
    DATABASE_URL: url,
    SECRET_KEY: 'x'.repeat(32),
    ...(link === 'redis' && { REDIS_URL: redis.url }),
    // The servers would warn that they cannot reach each other.
    ...(link === 'polling' && { DATABASE_LISTEN_URL: unreachableUrl, LOG_LEVEL: 'error' }),
  }
  const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []
  const servers: ServerProcess[] = []
  for (let n = 0; n < serverCount; n++)
    servers.push(await startMeasuredServer('../packages/server/dist/main.js', env, profile))
  const { tokens, roomOf, headers } = await preparePlenum(`http://127.0.0.1:${servers[0]?.port}`)

  const readMetric = (line: string) =>
    Promise.all(servers.map(async ({ port }) => sumOf(await metricsPage(port), line)))
  const cluster: Cluster = {
    servers,
    headers,
    readMetric,
    target: (room, client, server = client % serverCount) => ({
      server: `ws://127.0.0.1:${servers[server]?.port}`,
      token: tokens[client % tokens.length] as string,
      room: roomOf(room),
      dialect: yWebsocket,
      answersSync: true,
    }),
    async measure() {
      const read = async () => ({
        at: performance.now(),
        servers: servers.map((server) => cpuMicrosecondsOf(server.pid)),
        postgres: postgresTimes(postgres, database),
        redis: link === 'redis' ? cpuMicrosecondsOf(redis.pid) : 0,
        walBytes: await services.walBytes(),
      })
      const before = await read()
      return async () => {
        const after = await read()
        return {
          seconds: (after.at - before.at) / 1000,
          servers: after.servers.map((cpu, index) => cpu - (before.servers[index] ?? 0)),
          postgres: timeBetween(before.postgres, after.postgres),
          redis: after.redis - before.redis,
          walBytes: after.walBytes - before.walBytes,
        }
      }
    },
    async stop() {
      for (const server of servers) await server.terminate()
    },
  }
  if (link !== 'polling') {
    while ((await readMetric('plenum_peers')).some((count) => count < serverCount - 1)) await wait(100)
  }
  return cluster
}

/** What was used beyond what the cluster uses when it is idle. */
export function withoutIdle(used: Usage, idle: Usage): Usage {
  const times = used.seconds / idle.seconds
  return {
    seconds: used.seconds,
    servers: used.servers.map((cpu, index) => cpu - (idle.servers[index] ?? 0) * times),
    postgres: used.postgres - idle.postgres * times,
    redis: used.redis - idle.redis * times,
    walBytes: used.walBytes - idle.walBytes * times,
  }
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const metricsPage = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()

/** Sums the values of the lines that begin with the name and perhaps some of its labels. */
const sumOf = (page: string, line: string) =>
  sum(
    page
      .split('\n')
      .filter((one) => one.startsWith(line) && !/\w/.test(one[line.length] ?? ''))
      .map((one) => Number(one.slice(one.lastIndexOf(' ')))),
  )
