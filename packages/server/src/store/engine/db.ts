import type { ApiError } from '@plenum/protocol'
import type { Kysely, Transaction } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'
import type { Sync } from './group-sync.ts'
import type { Migrations } from '../migrations/migration.ts'
import type { Schema } from '../schema/schema.ts'

/** The values of the columns that a list is ordered by, in the last row of a page. */
export type Cursor = readonly (string | number)[]

/** The argument of every store function: the database itself, or a transaction of it. */
export type Db = Kysely<Schema> | Transaction<Schema>

/** The result of a write, or why it was refused. A refused write has changed nothing. */
export type Outcome<T> = { value: T } | { error: ApiError }

/** Writes of one kind, which cost less together than one by one. */
export interface CombinedWork<Item, T> {
  /**
   * Returns an outcome for each item, in their order. Undefined: the item is left for the next transaction.
   * At least one item must have an outcome.
   */
  runAll(db: Db, items: readonly Item[]): Promise<(Outcome<T> | undefined)[]>
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** `full`: an acknowledged write survives a power failure. `relaxed`: it survives only the end of the process. */
  readonly durability: Durability
  /** Whether only this process writes to the database, so that data cached in memory cannot be stale. */
  readonly exclusive: boolean
  /** Reads committed data. The newest commits may not be durable yet. */
  readonly read: Db
  /** Runs a statement on a connection that nothing else uses, so that it waits for no other statement. PostgreSQL only. */
  readApart<Row>(statement: string, values: readonly unknown[]): Promise<Row[]>
  /** Resolves when all data that could be read at the time of the call is durable. */
  durable(): Promise<void>
  /**
   * Runs one transaction and resolves when it is durable. The work runs again when the transaction collides with another
   * one. Transactions of the same lane are retried one at a time: pass the API key, so that tenants do not wait for each
   * other. `db` throws when it is used after the work is done.
   */
  write<T>(work: (db: Db) => Promise<T>, lane?: string, limits?: TransactionLimits): Promise<T>
  /**
   * As `write`, for short work. It may share its transaction with other short work, which costs less than a transaction for
   * each.
   */
  writeShort<T>(work: (db: Db) => Promise<T>, lane: string): Promise<T>
  /** As `writeShort`. One `runAll` gets the items of all callers that share the transaction and pass the same `combined`. */
  writeCombined<Item, T>(combined: CombinedWork<Item, T>, item: Item, lane: string): Promise<T>
  /** Takes a named lock until the transaction ends. Returns false if another transaction holds it. */
  tryLock(db: Db, name: string): Promise<boolean>
  /** Waits for a named lock and holds it until the transaction ends. */
  lock(db: Db, name: string): Promise<void>
  ping(): Promise<void>
  /** Whether a write was refused in the last minute because the disk is full. */
  isDiskFull(): boolean
  /** The size in bytes of the data and, for SQLite, of the write-ahead log. */
  size(): Promise<{ data: number; log?: number }>
  /**
   * Copies the write-ahead log of SQLite into the database and cuts it to nothing: it has earlier versions of rows that were
   * changed or deleted. Fails while another process reads. Does nothing on PostgreSQL.
   */
  emptyLog(): Promise<void>
  close(): Promise<void>
}

/** Beyond these limits, PostgreSQL ends the transaction, and nothing of it is stored. */
export interface TransactionLimits {
  /** How long a statement may wait for a lock. Default: as long as a statement may take. */
  lockMs?: number | undefined
  /** How long the transaction may wait for its next statement, for example because the server is frozen. Default: 5 s. */
  pauseMs?: number | undefined
}

export type Durability = 'full' | 'relaxed'

export interface DatabaseOptions {
  /** The URL of PostgreSQL. Default: SQLite in `dataDir`. */
  url?: string
  /** The folder of the SQLite database. */
  dataDir: string
  durability: Durability
  poolSize: number
  /** A statement that takes PostgreSQL longer than this fails. */
  timeoutMs?: number
  /** Leaves the schema of PostgreSQL as it is, for commands that run beside servers of another version. */
  keepsSchema?: boolean
  observer?: DatabaseObserver
  /** Replaces the sync of the log in tests. */
  sync?: Sync
  /** Called when the log could not be copied into the database. The log grows until a copy succeeds. */
  onCheckpointFailure?: (error: unknown) => void
  /** Called when the disk refused a sync: it is unknown which of the writes since the last sync are on disk. */
  onFatal?: (error: Error) => void
  /** Default: the system's clock. */
  clock?: Clock
  /** Default: all migrations. */
  migrations?: Migrations
  /** Called when the upgrade of the schema waits for something, with what it waits for. */
  onUpgradeWaits?: (about: object, message: string) => void
}
