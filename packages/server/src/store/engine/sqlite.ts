import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Dialect, Kysely, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { Checkpoints } from './checkpoints.ts'
import type { Database, DatabaseOptions } from './db.ts'
import { OpenError } from './failures.ts'
import { FullDisk } from './full-disk.ts'
import { GroupSync } from './group-sync.ts'
import { GroupWriter, type OpenTransaction, type Transact } from './group-writer.ts'
import { systemClock } from '../../platform/clock.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { isLoopHeld } from '../../platform/turns/loop-time.ts'
import { migrations } from '../migrations/index.ts'
import { migrateAtOnce } from '../migrations/migrate.ts'
import type { Schema } from '../schema/schema.ts'
import {
  begin,
  commit,
  DirectSqliteAdapter,
  rollback,
  SqliteConnection,
  SqliteDriver,
} from './sqlite-driver.ts'
import { runInTransaction, type TransactionDeps } from './transaction.ts'

/**
 * `synchronous = normal`: a commit writes the log without a sync. `write` then waits for the shared sync of `GroupSync`.
 * `secure_delete = on`: what is deleted is overwritten with zeros, also in pages that become free (`fast` leaves these). It
 * costs at most 5 % of the CPU time of small writes, and 1.4 ms for each megabyte that is deleted at once.
 */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma foreign_keys = on;
  pragma busy_timeout = 5000;
  pragma wal_autocheckpoint = 0;
  pragma journal_size_limit = 67108864;
  pragma cache_size = -65536;
  pragma temp_store = memory;
  pragma secure_delete = on;
`

/**
 * The embedded database. One connection writes and one reads, both on the event loop, because SQLite answers in microseconds.
 * Syncs and checkpoints wait for the disk, so they run on other threads.
 */
export async function openSqlite(options: DatabaseOptions): Promise<Database> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const release = lockFolder(options.dataDir)
  const file = join(options.dataDir, 'plenum.db')
  keepPrivate(file)

  const writer = openFile(file, options.observer)
  assertPragma(writer, 'journal_mode', 'wal')
  assertPragma(writer, 'synchronous', 1)
  const reader = new SqliteConnection(file, `${pragmas} pragma query_only = on;`, options.observer, true)

  const migrating = new Kysely<unknown>({ dialect: dialectOf(writer) })
  const read = new Kysely<Schema>({ dialect: dialectOf(reader) })
  const writes = new Limiter(1, { startsAtOnce: true })
  await migrateAtOnce(migrating, 'sqlite', options.migrations ?? migrations)
  await read.selectFrom('workspaces').select('workspace_id').limit(1).execute()

  const log = openSync(`${file}-wal`, 'r+')
  const folder = openSync(options.dataDir, 'r')
  fsyncSync(log)
  fsyncSync(folder)
  closeSync(folder)

  const disk = new FullDisk(options.clock ?? systemClock)
  const groupSync = new GroupSync(log, options.sync, options.observer?.sync)
  /** How many commits can be read, but are not durable yet. */
  let unsyncedCommits = 0
  const transactions: TransactionDeps = {
    dialect: dialectOf(writer),
    compiler: new SqliteQueryCompiler(),
    createAdapter: (assertOpen) => new DirectSqliteAdapter(writer, assertOpen),
    connections: { provideConnection: (consumer) => consumer(writer) },
  }
  const { onCheckpointFailure } = options
  const checkpoints = new Checkpoints({
    file,
    logFrames: logFramesOf(writer),
    withoutWriters: (work) => writes.run('', work),
    leaveSnapshots: reader.leaveSnapshot,
    clock: options.clock,
    ...(onCheckpointFailure && { onFailure: onCheckpointFailure }),
  })

  const transaction: OpenTransaction = {
    run: (work) => runInTransaction(transactions, work),
    get writeCount() {
      return writer.writeCount
    },
  }
  const transact: Transact = async (works, lane) => {
    const result = await writes.run(lane, async () => {
      const copied = checkpoints.beforeWrite()
      if (copied) await copied
      begin(writer)
      try {
        const result = await works(transaction)
        commit(writer)
        unsyncedCommits++
        reader.leaveSnapshot()
        checkpoints.committed()
        return result
      } catch (error) {
        rollback(writer)
        disk.onFailed(error)
        throw error
      }
    })
    if (options.durability === 'full') {
      try {
        await groupSync.durable()
      } catch (error) {
        options.onFatal?.(error as Error)
        throw error
      }
    }
    unsyncedCommits--
    return result
  }
  const groups = new GroupWriter(transact, {
    lanesShare: true,
    isLong: () => isLoopHeld(),
    clock: options.clock,
  })

  return {
    dialect: 'sqlite',
    durability: options.durability,
    exclusive: true,
    readApart: () => Promise.reject(new Error('SQLite has no other servers.')),
    read,
    write: (work, lane = '') => transact((transaction) => transaction.run(work), lane),
    writeShort: (work, lane) => groups.write(work, lane),
    writeCombined: (combined, item, lane) => groups.writeCombined(combined, item, lane),
    async durable() {
      if (unsyncedCommits > 0 && options.durability === 'full') await groupSync.durable()
    },
    // Transactions run one after the other, so inside a transaction every lock is free.
    async tryLock() {
      return true
    },
    async lock() {},
    async ping() {
      await read.selectFrom('workspaces').select('workspace_id').limit(1).execute()
    },
    isDiskFull: () => disk.isFull,
    async size() {
      const [data, log] = await Promise.all([stat(file), stat(`${file}-wal`)])
      return { data: data.size, log: log.size }
    },
    emptyLog: () => checkpoints.emptyLog(),
    async close() {
      await checkpoints.close()
      await read.destroy()
      await migrating.destroy()
      closeSync(log)
      release()
    },
  }
}

/**
 * Returns a function that asks SQLite how many pages the log has, to be called while no transaction is open. It does not
 * open the log's index file itself: closing that file would drop the locks of all connections of this process, and another
 * process could then truncate the file while it is in use.
 */
function logFramesOf({ raw }: SqliteConnection): () => number {
  const countOnly = raw.prepare('pragma wal_checkpoint(noop)')
  return () => (countOnly.get() as { log: number }).log
}

export const dialectOf = (connection: SqliteConnection): Dialect => ({
  createAdapter: () => new DirectSqliteAdapter(connection),
  createDriver: () => new SqliteDriver(connection),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damagedCodes = new Set([11, 26])

function openFile(file: string, observer: DatabaseOptions['observer']): SqliteConnection {
  try {
    return new SqliteConnection(file, pragmas, observer)
  } catch (error) {
    if (!damagedCodes.has((error as { errcode?: number }).errcode ?? 0)) throw error
    throw new OpenError(`${file} is damaged: ${(error as Error).message}. Put a backup in its place.`, {
      cause: error,
    })
  }
}

function assertPragma(connection: SqliteConnection, name: string, expected: unknown): void {
  const row = connection.raw.prepare(`pragma ${name}`).get() as Record<string, unknown>
  const found = Object.values(row)[0]
  if (found !== expected)
    throw new Error(
      `SQLite did not accept "pragma ${name} = ${String(expected)}": the value is ${String(found)}.`,
    )
}

/** SQLITE_BUSY. */
const busyCode = 5

/**
 * Lets only the user of the server read the files of a database, whatever the folder allows. SQLite gives new files beside
 * the database the permissions of the database.
 */
function keepPrivate(file: string): void {
  // Not opened if it exists: closing it would end the locks that other connections of this process have on it.
  if (!existsSync(file)) closeSync(openSync(file, 'ax', 0o600))
  for (const one of [file, `${file}-wal`, `${file}-shm`]) {
    const found = statSync(one, { throwIfNoEntry: false })
    // Only its owner can change the permissions of a file. `plenum doctor` reports the others.
    if (found && (found.mode & 0o077) !== 0 && found.uid === process.getuid?.()) closeToOthers(one)
  }
}

function closeToOthers(file: string): void {
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    // File systems without permissions, such as vfat, refuse it.
    if (!['EPERM', 'ENOTSUP', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Keeps a second server out of the folder. The kernel holds the lock, so it ends with the process, even with a killed one. */
export function lockFolder(dataDir: string): () => void {
  let lock: InstanceType<typeof DatabaseSync> | undefined
  try {
    const file = join(dataDir, 'server.lock')
    keepPrivate(file)
    lock = new DatabaseSync(file)
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
    return () => lock?.close()
  } catch (cause) {
    lock?.close()
    const { errcode, message } = cause as { errcode?: number; message: string }
    const problem =
      errcode === busyCode
        ? 'is in use by a server or by another plenum command. Stop it, and try again.'
        : `cannot be used: ${message}.`
    throw new OpenError(`The data folder ${dataDir} ${problem}`, { cause })
  }
}
