// A PostgreSQL for tests and developers. As a program it runs one until Ctrl-C:
// npx tsx packages/server/test/support/services/postgres.ts
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Client, escapeIdentifier } from 'pg'
import { startGuard } from './guard.ts'
import { findOrInstall, postgresPrograms } from './programs.ts'

export interface PostgresOptions {
  /** Syncs as in production. Otherwise a commit may be lost when the server is killed, and tests are faster. */
  durable?: boolean
  /** `stop` keeps this folder, and an existing cluster in it is used. Default: a temporary folder, which `stop` removes. */
  dataDir?: string
  port?: number
  /** Further settings of PostgreSQL. */
  settings?: Record<string, string>
}

export interface PostgresService {
  /** Connects as superuser to the database `postgres`. */
  readonly url: string
  readonly dataDir: string
  /** The folder of its Unix socket. Without one, its path would be too long. */
  readonly socketDir: string | undefined
  /** The process id of the postmaster that was started last. */
  readonly pid: number
  /** Creates an empty database and returns its URL. */
  createDatabase(name?: string): Promise<string>
  /** Kills the postmaster and all its children, like a crash. Resolves when all have ended. */
  kill(): Promise<void>
  /** Stops the postmaster and all its children with SIGSTOP: connections stay open without an answer. */
  freeze(): Promise<void>
  /** Continues the stopped processes. */
  thaw(): void
  /** Starts again on the same folder and port, after a fast shutdown if it still runs. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A server given by TEST_POSTGRES_URL can neither be killed nor restarted, and its `stop` does nothing. */
export type TestPostgres = Pick<PostgresService, 'url' | 'createDatabase' | 'stop'> & Partial<PostgresService>

const readyTimeoutSeconds = 30
const clusterArguments = [
  '--auth=trust',
  '--username=postgres',
  '--encoding=UTF8',
  '--locale=C.UTF-8',
  '--no-sync',
]

/** The server of TEST_POSTGRES_URL or, without that variable, one that is started now. */
export async function givenOrStarted(): Promise<TestPostgres> {
  const url = process.env.TEST_POSTGRES_URL
  if (!url) return startPostgres()
  try {
    await query(url, 'select 1')
  } catch (cause) {
    throw new Error('The server of TEST_POSTGRES_URL does not answer.', { cause })
  }
  return { url, createDatabase: (name) => createDatabase(url, name), stop: async () => {} }
}

/**
 * Creates a database on the server of `adminUrl` and returns its URL. It is a copy of the template, which must have no open
 * connection. The default is empty and accepts no connections.
 */
export async function createDatabase(
  adminUrl: string,
  name = randomName(),
  template = 'template0',
): Promise<string> {
  const names = [name, template].map((one) => escapeIdentifier(one))
  await query(adminUrl, `create database ${names.join(' template ')}`)
  const url = new URL(adminUrl)
  url.pathname = `/${encodeURIComponent(name)}`
  return url.href
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresService> {
  const bin = findOrInstall(postgresPrograms)
  const user = serverUser()
  const port = options.port ?? (await freePort())
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const dataDir = options.dataDir
    ? resolve(options.dataDir)
    : fs.mkdtempSync(join(tmpdir(), 'plenum-postgres-'))
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const socketDir = socketDirOf(dataDir)
  const guard = startGuard(dataDir, !options.dataDir)
  const logPath = join(dataDir, 'postgres.log')
  let server: ChildProcess
  let stopped: Promise<void> | undefined

  const run = (program: string, args: string[], errors: number | 'pipe'): ChildProcess => {
    // Detached, so that Ctrl-C in a terminal reaches only the program that controls the shutdown.
    const where = { ...user, cwd: dataDir, env: { PATH: process.env.PATH, LC_ALL: 'C' }, detached: true }
    const child = spawn(join(bin, program), args, { ...where, stdio: ['ignore', 'ignore', errors] })
    guard.watch(child)
    return child
  }

  const start = async (): Promise<void> => {
    const log = openLog(logPath, user)
    try {
      server = run('postgres', serverArguments(dataDir, port, options), log)
    } finally {
      fs.closeSync(log)
    }
    await untilReady(server, url, dataDir, logPath)
  }

  const childrenOf = (pid: number) =>
    [...processes()].filter(([, { parent }]) => parent === pid).map(([child]) => child)

  /** A stopped postmaster forks no more children, so the list of its children is complete. */
  const stopPostmaster = async (pid: number): Promise<void> => {
    process.kill(pid, 'SIGSTOP')
    await until(() => !isRunning(server) || /^[TZ]/.test(processes().get(pid)?.state ?? 'Z'))
  }

  const freeze = async (): Promise<void> => {
    const { pid } = server
    if (pid === undefined) return
    await stopPostmaster(pid)
    for (const each of childrenOf(pid)) signal(each, 'SIGSTOP')
  }

  const thaw = (): void => {
    const { pid } = server
    if (pid === undefined) return
    for (const each of [...childrenOf(pid), pid]) signal(each, 'SIGCONT')
  }

  const kill = async (): Promise<void> => {
    const pid = server.pid
    if (pid === undefined || !isRunning(server)) return
    await stopPostmaster(pid)
    const family = childrenOf(pid)
    for (const each of [...family, pid]) signal(each, 'SIGKILL')
    // Shared memory stays in use until the last child has ended, and a restart is refused until then.
    await until(() => {
      const now = processes()
      return !isRunning(server) && family.every((each) => (now.get(each)?.state ?? 'Z').startsWith('Z'))
    })
  }

  const shutDown = async (): Promise<void> => {
    if (!isRunning(server)) return
    // SIGINT is PostgreSQL's fast shutdown: it ends sessions, and writes a checkpoint.
    server.kill('SIGINT')
    await until(() => !isRunning(server)).catch(kill)
  }

  try {
    if (!fs.existsSync(join(dataDir, 'PG_VERSION'))) {
      if (user) fs.chownSync(dataDir, user.uid, user.gid)
      const initdb = run('initdb', ['-D', dataDir, ...clusterArguments], 'pipe')
      const [[code], errors] = await Promise.all([once(initdb, 'exit'), initdb.stderr && text(initdb.stderr)])
      if (code !== 0) throw new Error(`initdb failed:\n${errors}`)
    }
    await start()
  } catch (error) {
    guard.release()
    throw error
  }

  return {
    url,
    dataDir,
    socketDir,
    get pid() {
      return server.pid ?? 0
    },
    createDatabase: (name) => createDatabase(url, name),
    kill,
    freeze,
    thaw,
    restart: async () => {
      if (stopped) throw new Error('This PostgreSQL was stopped for good.')
      await shutDown()
      await start()
    },
    stop: () => (stopped ??= shutDown().then(() => guard.release())),
  }
}

/** Longer paths do not fit into the address of a socket, and PostgreSQL would not start. */
const socketDirOf = (dataDir: string): string | undefined =>
  Buffer.byteLength(join(dataDir, '.s.PGSQL.65535')) < 104 ? dataDir : undefined

function serverArguments(
  dataDir: string,
  port: number,
  { durable, settings: further }: PostgresOptions,
): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: socketDirOf(dataDir) ?? '',
    max_connections: 200,
    // In files of the folder: a killed server leaves nothing behind in /dev/shm, which is small in containers.
    dynamic_shared_memory_type: 'mmap',
    // With hundreds of databases, autovacuum would start a process several times a second.
    autovacuum: 'off',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...further,
  }
  return ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** The log file belongs to the server's user. Otherwise recovery would complain about a file that it cannot open. */
function openLog(path: string, user: ServerUser | undefined): number {
  const log = fs.openSync(path, 'a', 0o600)
  if (user) fs.fchownSync(log, user.uid, user.gid)
  return log
}

async function untilReady(
  server: ChildProcess,
  url: string,
  dataDir: string,
  logPath: string,
): Promise<void> {
  const deadline = Date.now() + readyTimeoutSeconds * 1000
  const fail = (what: string, cause?: unknown): never => {
    throw new Error(`PostgreSQL ${what}:\n${fs.readFileSync(logPath, 'utf8').slice(-2000)}`, { cause })
  }
  let spawnError: Error | undefined
  server.once('error', (error) => (spawnError = error))
  for (let wait = 10; ; wait = Math.min(wait * 1.5, 250)) {
    if (!isRunning(server)) fail('did not start', spawnError)
    try {
      const [row] = await query(url, 'show data_directory')
      // Tests must not create files in a cluster that another process owns, or kill its server.
      if (fs.realpathSync(String(row?.data_directory)) === fs.realpathSync(dataDir)) return
      throw new Error(`Another PostgreSQL answers on ${url}.`)
    } catch (error) {
      if (Date.now() > deadline) fail(`did not accept connections within ${readyTimeoutSeconds} s`, error)
    }
    await delay(wait)
  }
}

export type ServerUser = { uid: number; gid: number }

/** PostgreSQL refuses to run as root; other users run it as themselves. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout.trim(),
    )
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as.',
  )
}

/**
 * Returns a free port below the range of ports for outgoing connections: such a connection could take the port while the
 * server is down, and a client that retries to connect could even reach itself.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(20_000, 32_000)
    const probe = createServer()
    const free = await new Promise<boolean>((answer) => {
      probe.once('error', () => answer(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => answer(true)))
    })
    if (free) return port
  }
  throw new Error('No free port between 20000 and 32000.')
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  // When the server ends, this event is emitted besides the rejection. Without a listener it would end this process.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** All processes by id. `ps` is used only without /proc: slim Linux images have no `ps`. */
function processes(): Map<number, { parent: number; state: string }> {
  const found = new Map<number, { parent: number; state: string }>()
  if (fs.existsSync('/proc/self/stat')) {
    for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        // pid (name) state parent …, where the name may contain spaces and brackets.
        const [state = '', parent] = fs
          .readFileSync(`/proc/${pid}/stat`, 'utf8')
          .split(') ')
          .at(-1)!
          .split(' ')
        found.set(Number(pid), { parent: Number(parent), state })
      } catch {
        // The process ended after the folder was listed.
      }
    }
    return found
  }
  for (const line of spawnSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' }).stdout.split(
    '\n',
  )) {
    const [pid, parent, state = ''] = line.trim().split(/\s+/)
    if (pid) found.set(Number(pid), { parent: Number(parent), state })
  }
  return found
}

async function until(condition: () => boolean, timeoutSeconds = 10): Promise<void> {
  const deadline = Date.now() + timeoutSeconds * 1000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL did not end within ${timeoutSeconds} s.`)
    await delay(5)
  }
}

async function main(): Promise<void> {
  const postgres = await startPostgres()
  console.log(postgres.url)
  console.log(`PostgreSQL runs in ${postgres.dataDir} until Ctrl-C.`)
  const stop = () => {
    postgres.stop().catch((error: unknown) => {
      console.error(error)
      process.exitCode = 1
    })
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) await main()
