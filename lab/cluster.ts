import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@plenum/client'
import { createTenant, userToken } from '../attack/tenant.ts'
import type { Tenant } from '../packages/server/test/support/given.ts'
import { startRedis, type RedisService } from '../packages/server/test/support/services/redis.ts'
import { type PostgresService, startPostgres } from '../packages/server/test/support/services/postgres.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { ServerProcess } from './server-process.ts'

/** How servers reach each other; `sqlite`: one server with the embedded database. */
export const links = ['sqlite', 'none', 'postgres', 'redis'] as const
export type Link = (typeof links)[number]

/** The programs that `build.ts` writes: the real server, and broken ones for controls. */
export type Program = 'main' | 'early-answers' | 'changed-server'

/** PostgreSQL and Redis, for all clusters of a run. */
export class LabServices {
  readonly programs: string
  #postgres: Promise<PostgresService> | undefined
  #redis: Promise<RedisService> | undefined

  constructor(programs: string) {
    this.programs = programs
  }

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
    this.#reader = reader
  }

  static async start(services: LabServices, options: ClusterOptions): Promise<Cluster> {
    const { link, program = 'main', proxied } = options
    const folder = mkdtempSync(join(tmpdir(), 'plenum-lab-'))
    const programOf = (name: Program) => join(services.programs, `${name}.js`)
    const env = { ...(await settingsOf(services, options, folder)), ...options.env }
    const reader = await ServerProcess.create({ program: programOf('main'), env, folder })
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
      servers.push(await ServerProcess.create({ program: programOf(program), env: own, folder }))
    }
    await Promise.all(servers.map((server) => server.start()))
    const drained = new Set<ServerProcess>()
    const portsOf = (list: readonly ServerProcess[]) =>
      list.filter((server) => !drained.has(server)).map(({ port }) => port)
    const balancer = await startProxy(() => portsOf(servers))
    // A client that prefers a server moves to another one when it is down.
    const entrances = await Promise.all(
      servers.map((server) => startProxy(() => portsOf([server, ...servers]), { prefersFirst: true })),
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
    for (const server of [...this.servers, this.#reader]) await server.close()
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
  const urls = names.map((name) => settings[name] ?? '')
  const port = Number(new URL(urls[0] ?? '').port)
  const proxy = await startProxy(() => [port])
  for (const [index, name] of names.entries()) settings[name] = withPort(urls[index] ?? '', proxy.port)
  return proxy
}

const withPort = (url: string, port: number) => Object.assign(new URL(url), { port }).href
