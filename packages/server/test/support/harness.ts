import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, type ClientOptions, createClient } from '@plenum/client'
import { afterAll, beforeAll, inject } from 'vitest'
import { createSecrets, type Secrets } from '../../src/access/credentials/secrets.ts'
import { type Config, databaseSettingsOf, readConfig } from '../../src/config.ts'
import { type Bus, createServerBus } from '../../src/bus.ts'
import type { DocumentThreads } from '../../src/crdt/document-threads.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import type { ServerLink } from '../../src/platform/server-link/server-link.ts'
import { createServer, type Server } from '../../src/server.ts'
import type { Database } from '../../src/store/engine/db.ts'
import { openDatabase } from '../../src/store/engine/open.ts'
import type { Sync } from '../../src/store/engine/group-sync.ts'
import { realElapsed } from './measures/loop-work.ts'
import { type LinkKind, linkOptions } from './servers/links.ts'
import { createDatabase } from './services/postgres.ts'
import { endIdleConnections, testFetch } from './clients/quick-http.ts'
import { afterOthers } from './servers/other-databases.ts'
import { bySocket, postgresForTests } from './services/shared-postgres.ts'
import { createDocumentThreads } from './updates/document-work.ts'

export type Store = 'sqlite' | 'postgres'

/** With `TEST_LINK`, a test gets two servers on one PostgreSQL database, and their link is of this kind. */
const linkKind = process.env['TEST_LINK'] as LinkKind | undefined

/** Every test of behaviour runs on each of these databases. */
export const stores: readonly Store[] = linkKind === undefined ? ['sqlite', 'postgres'] : ['postgres']

/** The database of tests that need only one. */
export const anyStore: Store = linkKind === undefined ? 'sqlite' : 'postgres'

interface TestClock {
  offsetMs: number
  stoppedMs?: number
  /** How many times faster than real time the timers run that are started from now on. */
  timerSpeed?: number | undefined
}

export interface TestServer {
  url: string
  database: Database
  secrets: Secrets
  /** The bus on which operations publish changes to open sessions. */
  bus: Bus
  server: Server
  /** The server's clock. Set `offsetMs` to move it, and `stoppedMs` as if the server had been stopped for this long. */
  clock: TestClock
  /** The log of the server, one JSON line per entry. */
  logged: string[]
  /** The location of the data, for a second server on it. */
  data: NonNullable<ServerOptions['data']>
  client(options?: Partial<ClientOptions>): Client
  /** A raw call, for requests that a client would never send. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: any }> // eslint-disable-line typescript/no-explicit-any
  /** This server or, with `TEST_LINK`, one of the two: for tests of what each server does for itself. */
  one: TestServer
  /** This server or, with `TEST_LINK`, both. */
  all: readonly TestServer[]
  stop(): Promise<void>
  /** Stops the server and starts another one on the same data and the same port. */
  restart(): Promise<TestServer>
}

export interface ServerOptions {
  /** Settings that differ from the defaults, as in the environment. */
  env?: Record<string, string>
  sync?: Sync
  /** The interval at which the server polls for postponed jobs. */
  jobPollMs?: number
  /** Work in a thread that takes longer fails. Default: a minute, so that a slow machine fails nothing. */
  threadLimitMs?: number
  /** Work of this kind starts in a thread when the returned promise resolves. */
  beforeThreadWork?: (kind: string) => Promise<void>
  /** How many times faster than real time the server's clock and timers run. */
  clockSpeed?: number
  /** Whether `TEST_LINK` does not apply. */
  isAlone?: boolean
  /** The clock that several servers share. */
  clock?: TestClock
  /** The log that several servers share. */
  logged?: string[]
  /** Passes messages to other servers on the same data. */
  link?: ServerLink | undefined
  /** The data of an earlier server. */
  data?: { dataDir: string; databaseUrl: string | undefined }
}

/** The default SECRET_KEY of the servers in this process. */
export const secretKey = 'a secret key that only these tests use'

/** Starts a server. With `TEST_LINK`, tests on PostgreSQL get two servers as one. */
export async function startServer(store: Store, options: ServerOptions = {}): Promise<TestServer> {
  return linkKind === undefined || store === 'sqlite' || options.isAlone
    ? startOne(store, options)
    : startPair(linkKind, options)
}

/**
 * Starts two servers on one database, connected by this kind of link. Calls, and clients that use `url`, get them in turns.
 * A call returns when both servers know what it has changed: tests that expect it at once are right on one server only.
 */
async function startPair(kind: LinkKind, options: ServerOptions, ports?: string[]): Promise<TestServer> {
  const optionsOfEach = await linkOptions(kind)
  const { clock = { offsetMs: 0 }, logged = [] } = options
  const start = (port: string | undefined, data = options.data) => {
    const { link = options.link, env } = optionsOfEach()
    return startOne('postgres', {
      ...options,
      clock,
      logged,
      link,
      env: { ...env, ...options.env, ...(port && { PORT: port }) },
      ...(data && { data }),
    })
  }
  const first = await start(ports?.[0])
  const second = await start(ports?.[1], first.data)
  const both = [first, second]
  let turn = 0
  const next = () => both[turn++ % 2] as TestServer
  const caughtUp = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    await answer.catch(() => {})
    await Promise.all(both.map(({ server }) => server.catchUp()))
    return answer
  }
  return {
    ...first,
    all: both,
    get url() {
      return next().url
    },
    bus: { ...first.bus, publish: (message) => both.forEach(({ bus }) => bus.publish(message)) },
    client: (options) =>
      next().client({ fetch: (...request) => caughtUp(testFetch(...request)), ...options }),
    post: (...request) => caughtUp(next().post(...request)),
    async stop() {
      await second.stop()
      await first.stop()
    },
    async restart() {
      await Promise.all(both.map(shutDown))
      return startPair(kind, { ...options, data: first.data }, both.map(portOf))
    },
  }
}

async function shutDown({ server, database, url }: TestServer): Promise<void> {
  await server.stop()
  endIdleConnections(url)
  await database.close()
}

const portOf = ({ url }: TestServer) => new URL(url).port

async function startOne(store: Store, options: ServerOptions): Promise<TestServer> {
  const { env = {}, sync, jobPollMs, threadLimitMs } = options
  const data = options.data ?? {
    dataDir: store === 'sqlite' ? await createSqliteFolder() : newDataDir(),
    databaseUrl: store === 'postgres' ? await createPostgresDatabase() : undefined,
  }
  const { dataDir, databaseUrl } = data
  const config: Config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    SECRET_KEY: secretKey,
    DATABASE_POOL_SIZE: '8',
    LOG_LEVEL: 'debug',
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
    LIMIT_LOGIN_LINKS_PER_HOUR: '0',
    LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '0',
    LIMIT_CREATED_BY_OPENING_PER_MINUTE: '0',
    ...(databaseUrl !== undefined && { DATABASE_URL: await bySocket(databaseUrl) }),
    ...env,
  })
  const metrics = createMetrics()
  const database = await openDatabase({
    ...databaseSettingsOf(config),
    observer: metrics.database,
    ...(sync && { sync }),
  })
  const secrets = createSecrets(config.secretKey ?? secretKey)
  const { clock = { offsetMs: 0 } } = options
  const { logged = [] } = options
  const log = createLog('debug', { write: (line) => void logged.push(line) })
  const serverClock = withSpeed(options.clockSpeed ?? 1, clock)
  const bus = createServerBus(log)
  const threads = createDocumentThreads({ limitMs: threadLimitMs ?? 60_000 })
  if (options.beforeThreadWork) delayWork(threads, options.beforeThreadWork)
  const server = createServer({
    config,
    database,
    secrets,
    metrics,
    log,
    bus,
    link: options.link,
    clock: serverClock,
    jobPollMs,
    threads,
    // Tests call servers at 127.0.0.1 only, by that address.
    resolveHost: () => Promise.reject(new Error('Tests resolve no names.')),
  })
  const url = await server.start()

  const send = afterOthers(database, testFetch)
  const testServer: TestServer = {
    url,
    database,
    secrets,
    bus,
    server,
    clock,
    logged,
    data,
    get one() {
      return testServer
    },
    get all() {
      return [testServer]
    },
    client: (options) => createClient({ url, retries: 0, fetch: send, ...options }),
    async post(path, body, headers = {}) {
      const response = await send(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
    },
    async stop() {
      await shutDown(testServer)
      rmSync(dataDir, { recursive: true, force: true })
    },
    async restart() {
      await shutDown(testServer)
      return startOne(store, { ...options, data, env: { ...env, PORT: portOf(testServer) } })
    },
  }
  return testServer
}

function delayWork(threads: DocumentThreads, before: (kind: string) => Promise<void>): void {
  const run = threads.run.bind(threads)
  threads.run = async (work) => {
    await before(work.kind)
    return run(work)
  }
}

/** The system's clock, moved by `offsetMs`, and faster by `speed`. */
function withSpeed(speed: number, offset: TestClock): Clock {
  const startedAt = Date.now()
  return {
    now: () => Math.round(startedAt + (Date.now() - startedAt) * speed) + offset.offsetMs,
    elapsed: () => realElapsed() * speed + (offset.stoppedMs ?? 0),
    setTimeout: (run, ms) => systemClock.setTimeout(run, ms / (offset.timerSpeed ?? speed)),
    setInterval: (run, ms) => systemClock.setInterval(run, ms / speed),
  }
}

/** Makes one server object the other. Not `Object.assign`: `url` may have another value each time. */
export function become(server: TestServer, other: TestServer): void {
  Object.defineProperties(server, Object.getOwnPropertyDescriptors(other))
}

/** The servers that all tests of this process share. */
const shared = new Map<Store, Promise<TestServer>>()

/** What tests must not touch on a shared server, because it would change or show what other tests do. */
const ownOnly = ['clock', 'logged', 'server', 'bus', 'data', 'stop', 'restart'] as const

async function sharedServer(store: Store): Promise<TestServer> {
  if (!shared.has(store)) shared.set(store, startServer(store))
  const server = {} as TestServer
  become(server, (await shared.get(store)) as TestServer)
  for (const name of ownOnly) {
    const refuse = () => {
      throw new Error(`The server is shared: to use its ${name}, call useServer(store, { isOwn: true }).`)
    }
    Object.defineProperty(server, name, { get: refuse, configurable: true, enumerable: false })
  }
  return server
}

/**
 * A server for all tests of a `describe`. Without options the tests of other files use it too: each creates a tenant of its
 * own and sees nothing of the others. With options, or `isOwn`, it belongs to the `describe`.
 */
export function useServer(store: Store, options?: ServerOptions & { isOwn?: true }): TestServer {
  const server = {} as TestServer
  beforeAll(async () => {
    become(server, await (options ? startServer(store, options) : sharedServer(store)))
  })
  afterAll(async () => {
    if (options) await server.stop?.()
    // The test file is kept until the end of the run. Its server and the server's log need not be.
    for (const name of Object.getOwnPropertyNames(server)) delete server[name as keyof TestServer]
  })
  return server
}

const newDataDir = () => mkdtempSync(join(inject('dataFolder'), 'server-'))

let migratedFile: Promise<string> | undefined

/** Returns a folder with a copy of a migrated database: copying is faster than running all migrations again. */
async function createSqliteFolder(): Promise<string> {
  const folder = newDataDir()
  copyFileSync(await (migratedFile ??= migrateFile()), join(folder, 'plenum.db'))
  return folder
}

async function migrateFile(): Promise<string> {
  const dataDir = newDataDir()
  const config = readConfig({ DATA_DIR: dataDir, SECRET_KEY: secretKey })
  const database = await openDatabase(databaseSettingsOf(config))
  await database.close()
  return join(dataDir, 'plenum.db')
}

/** Creates a database with the newest schema and no rows on the PostgreSQL of this run. */
export async function createPostgresDatabase(): Promise<string> {
  const { url, migratedDatabase } = await postgresForTests()
  return createDatabase(url, undefined, migratedDatabase)
}

/** Creates a database without any schema. */
export const createEmptyPostgresDatabase = async (): Promise<string> =>
  createDatabase((await postgresForTests()).url)
