import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Dialect, Kysely, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { Checkpoints } from './checkpoints.ts'
import type { Database, DatabaseOptions } from './db.ts'
import { OpenError } from './failures.ts'
import { GroupSync } from './group-sync.ts'
import { migrate } from '../migrations/index.ts'
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
import { Turns } from './turns.ts'

/** `normal`: a commit writes the log without a sync; the answer waits for the shared sync of GroupSync. */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma foreign_keys = on;
  pragma busy_timeout = 5000;
  pragma wal_autocheckpoint = 0;
  pragma journal_size_limit = 67108864;
  pragma cache_size = -65536;
  pragma temp_store = memory;
`

/**
 * The embedded database: one connection that writes, one that reads, both on the event loop because SQLite answers in
 * microseconds. What takes the disk's time, syncing and checkpointing, happens on other threads.
 */
export async function openSqlite(options: DatabaseOptions): Promise<Database> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const release = lockFolder(options.dataDir)
  const file = join(options.dataDir, 'plenum.db')

  const writer = openFile(file, options.observer)
  assertPragma(writer, 'journal_mode', 'wal')
  assertPragma(writer, 'synchronous', 1)
  const reader = new SqliteConnection(file, `${pragmas} pragma query_only = on;`, options.observer, true)

  const migrating = new Kysely<unknown>({ dialect: dialectOf(writer) })
  const read = new Kysely<Schema>({ dialect: dialectOf(reader) })
  const turns = new Turns()
  await migrate(migrating, 'sqlite')
  await read.selectFrom('workspaces').select('workspace_id').limit(1).execute()

  const log = openSync(`${file}-wal`, 'r+')
  const folder = openSync(options.dataDir, 'r')
  fsyncSync(log)
  fsyncSync(folder)
  closeSync(folder)

  const groupSync = new GroupSync(log, options.sync, options.observer?.sync)
  /** Commits that can be read, but are not durable yet. */
  let unsynced = 0
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
    withoutWriters: (work) => turns.take(work),
    leaveSnapshots: reader.leaveSnapshot,
    ...(onCheckpointFailure && { onFailure: onCheckpointFailure }),
  })

  return {
    dialect: 'sqlite',
    durability: options.durability,
    exclusive: true,
    read,
    async write(work, scope) {
      const result = await turns.take(async () => {
        const logIsLong = checkpoints.beforeWrite()
        if (logIsLong) await logIsLong
        begin(writer)
        try {
          const result = await runInTransaction(transactions, work)
          commit(writer)
          unsynced++
          reader.leaveSnapshot()
          checkpoints.committed()
          return result
        } catch (error) {
          rollback(writer)
          throw error
        }
      }, scope)
      if (options.durability === 'full') {
        try {
          await groupSync.durable()
        } catch (error) {
          options.onFatal?.(error as Error)
          throw error
        }
      }
      unsynced--
      return result
    },
    async durable() {
      if (unsynced > 0 && options.durability === 'full') await groupSync.durable()
    },
    // Transactions here run one after the other, so inside one every lock is free.
    async tryLock() {
      return true
    },
    async lock() {},
    async ping() {
      await read.selectFrom('workspaces').select('workspace_id').limit(1).execute()
    },
    async size() {
      const [data, log] = await Promise.all([stat(file), stat(`${file}-wal`)])
      return { data: data.size, log: log.size }
    },
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
 * Tells the length of the log, while no transaction is open. It is not read from the log's index: whoever closes that
 * file drops the locks of all connections of the process to it, and the next process would cut it under their feet.
 */
function logFramesOf({ raw }: SqliteConnection): () => number {
  const lookOnly = raw.prepare('pragma wal_checkpoint(noop)')
  return () => (lookOnly.get() as { log: number }).log
}

const dialectOf = (connection: SqliteConnection): Dialect => ({
  createAdapter: () => new DirectSqliteAdapter(connection),
  createDriver: () => new SqliteDriver(connection),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26])

function openFile(file: string, observer: DatabaseOptions['observer']): SqliteConnection {
  try {
    return new SqliteConnection(file, pragmas, observer)
  } catch (error) {
    if (!damaged.has((error as { errcode?: number }).errcode ?? 0)) throw error
    throw new OpenError(`${file} is damaged: ${(error as Error).message}. Put a backup in its place.`, {
      cause: error,
    })
  }
}

function assertPragma(connection: SqliteConnection, name: string, expected: unknown): void {
  const row = connection.raw.prepare(`pragma ${name}`).get() as Record<string, unknown>
  const found = Object.values(row)[0]
  if (found !== expected) throw new Error(`SQLite refused "pragma ${name}": it is ${String(found)}.`)
}

/** Keeps a second server out of the folder. The lock is the kernel's, so it ends with the process however that ends. */
function lockFolder(dataDir: string): () => void {
  const lock = new DatabaseSync(join(dataDir, 'server.lock'))
  try {
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
  } catch (error) {
    lock.close()
    throw new OpenError(`The data folder ${dataDir} is in use by another server.`, { cause: error })
  }
  return () => lock.close()
}
