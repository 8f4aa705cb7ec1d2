import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@plenum/client'
import { createTenant, userToken } from '../attack/tenant.ts'
import type { Tenant } from '../packages/server/test/support/given.ts'
import { type Program, programFile } from '../packages/server/test/support/processes/programs.ts'
import { ServerProcess } from '../packages/server/test/support/processes/server-process.ts'
import { Proxy } from '../packages/server/test/support/faults/proxy.ts'
import { startRedis, type RedisService } from '../packages/server/test/support/services/redis.ts'
import { type PostgresService, startPostgres } from '../packages/server/test/support/services/postgres.ts'

/** How servers reach each other; `sqlite`: one server with the embedded database. */
export const links = ['sqlite', 'none', 'postgres', 'redis'] as const
export type Link = (typeof links)[number]

/** PostgreSQL and Redis, for all clusters of a run. */
export class LabServices {
  #postgres: Promise<PostgresService> | undefined
  #redis: Promise<RedisService> | undefined

  /** It syncs as in production. */
  postgres(): Promise<PostgresService> {
    return (this.#postgres ??= startPostgres({ durable: true, settings: { track_commit_timestamp: 'on' } }))
  }

  redis(): Promise<RedisService> {
    return (this.#redis ??= startRedis())
  }

  async stop(): Promise<void> {
    await Promise.all([this.#postgres?.then((one) => one.stop()), this.#redis?.then((one) => one.stop())])
  }
}

export interface ClusterOptions {
  link: Link
  /** Default: two, and one with SQLite. */
  servers?: number
  program?: Program
  env?: Record<string, string>
  /** The folder of SQLite. Default: a temporary one. */
  dataDir?: string
  /** Puts a proxy between each server and its database or Redis. */
  proxied?: 'database' | 'redis'
}

/** Servers on a database of their own, and the load balancer before them. */
export class Cluster {
  readonly servers: readonly ServerProcess[]
  /** Clients reach the servers here. */
  readonly balancer: Proxy
  readonly tenant: Tenant
  /** A token of a user who may edit everything. */
  readonly token: string
  readonly services: LabServices
  readonly link: Link
  readonly folder: string
  /** Undefined with SQLite. */
  readonly databaseUrl: string | undefined
  /** For clients of one server each. They reach another one while it is down. */
  readonly entrances: readonly Proxy[]
  /** Between each server and its database or Redis, if the options say so. */
  readonly proxies: readonly Proxy[]
  /** Servers to which the load balancer sends no new connections. */
  readonly drained: Set<ServerProcess>
  /** The open file with the log of the servers. */
  readonly log: number
  readonly #reader: ServerProcess

  private constructor(
    parts: Pick<
      Cluster,
      | 'servers'
      | 'balancer'
      | 'tenant'
      | 'token'
      | 'services'
      | 'link'
      | 'folder'
      | 'databaseUrl'
      | 'proxies'
      | 'entrances'
      | 'drained'
      | 'log'
    >,
    reader: ServerProcess,
  ) {
    this.servers = parts.servers
    this.balancer = parts.balancer
    this.tenant = parts.tenant
    this.token = parts.token
    this.services = parts.services
    this.link = parts.link
    this.folder = parts.folder
    this.databaseUrl = parts.databaseUrl
    this.proxies = parts.proxies
    this.entrances = parts.entrances
    this.drained = parts.drained
    this.log = parts.log
    this.#reader = reader
  }

  static async start(services: LabServices, options: ClusterOptions): Promise<Cluster> {
    const { link, program = 'server', proxied } = options
    const folder = mkdtempSync(join(tmpdir(), 'plenum-lab-'))
    const env = { ...(await settingsOf(services, options, folder)), ...options.env }
    // Of all servers.
    const log = openSync(join(folder, 'servers.log'), 'a')
    const createServer = async (one: Program, settings: Record<string, string>) =>
      ServerProcess.create({
        program: await programFile(one),
        env: { LOG_LEVEL: 'warn', ...settings },
        cwd: folder,
        stdio: ['ignore', log, log],
      })
    const reader = await createServer('server', env)
    // The real server makes the schema and the tenant, also for controls.
    await reader.start()
    const tenant = await createTenant(reader.url, 'lab@example.com')
    const token = await userToken(tenant, 'writer')
    await reader.kill()

    const servers: ServerProcess[] = []
    const proxies: Proxy[] = []
    const count = link === 'sqlite' ? 1 : (options.servers ?? 2)
    for (let index = 0; index < count; index++) {
      const own = { ...env }
      if (proxied !== undefined) proxies.push(await proxySettings(own, proxied))
      servers.push(await createServer(program, own))
    }
    await Promise.all(servers.map((server) => server.start()))
    const drained = new Set<ServerProcess>()
    const urlsOf = (list: readonly ServerProcess[]) =>
      list.filter((server) => !drained.has(server)).map(({ url }) => url)
    const balancer = await Proxy.start(() => urlsOf(servers))
    // A client that prefers a server moves to another one when it is down.
    const entrances = await Promise.all(
      servers.map((server) => Proxy.start(() => urlsOf([server, ...servers]), { prefersFirst: true })),
    )
    const { DATABASE_URL: databaseUrl } = env as { DATABASE_URL?: string }
    return new Cluster(
      {
        servers,
        balancer,
        tenant,
        token,
        services,
        link,
        folder,
        databaseUrl,
        proxies,
        entrances,
        drained,
        log,
      },
      reader,
    )
  }

  /** The backend of the tenant. Default: over the load balancer. */
  client(url = this.balancer.url): Client {
    const { apiKey, authToken } = this.tenant
    return createClient({ url, apiKey, authToken })
  }

  /** Runs the work with a server that has seen nothing of the trial. */
  async withFreshServer<T>(work: (url: string) => Promise<T>): Promise<T> {
    // The embedded database has one server only: the same one, killed and started again.
    if (this.link === 'sqlite') {
      const [only] = this.servers as [ServerProcess]
      await only.kill()
      await only.start()
      return work(only.url)
    }
    await this.#reader.start()
    try {
      return await work(this.#reader.url)
    } finally {
      await this.#reader.kill()
    }
  }

  async stop(): Promise<void> {
    for (const proxy of [this.balancer, ...this.entrances, ...this.proxies]) proxy.close()
    for (const server of [...this.servers, this.#reader]) await server.kill()
    closeSync(this.log)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function settingsOf(
  services: LabServices,
  { link, dataDir }: ClusterOptions,
  folder: string,
): Promise<Record<string, string>> {
  const settings = {
    SECRET_KEY: 'a secret key that only the lab uses',
    DATA_DIR: dataDir ?? folder,
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
    LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '0',
    LIMIT_USER_REQUESTS_PER_MINUTE: '0',
    LIMIT_CREATED_BY_OPENING_PER_MINUTE: '0',
    LIMIT_CREATED_BY_OPENING_PER_DAY: '0',
    DATABASE_POOL_SIZE: '8',
    // Short, because trials wait for it.
    DATABASE_TIMEOUT_SECONDS: '3',
  }
  if (link === 'sqlite') return settings
  const url = await (await services.postgres()).createDatabase()
  const database = { ...settings, DATABASE_URL: url, DATABASE_LISTEN_URL: url }
  if (link === 'redis') return { ...database, REDIS_URL: (await services.redis()).url }
  // No server listens at port 1.
  return link === 'none' ? { ...database, DATABASE_LISTEN_URL: withPort(url, 1) } : database
}

/** Puts a proxy before the database or Redis in the settings. */
async function proxySettings(
  settings: Record<string, string>,
  proxied: 'database' | 'redis',
): Promise<Proxy> {
  const names = proxied === 'redis' ? ['REDIS_URL'] : ['DATABASE_URL', 'DATABASE_LISTEN_URL']
  const proxy = await Proxy.start(settings[names[0] as string] ?? '')
  for (const name of names) settings[name] = proxy.urlFor(settings[name] ?? '')
  return proxy
}

const withPort = (url: string, port: number) => Object.assign(new URL(url), { port }).href
