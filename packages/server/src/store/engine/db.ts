import type { Kysely, Transaction } from 'kysely'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'
import type { Sync } from './group-sync.ts'
import type { Schema } from '../schema/schema.ts'

/** Values of the order's columns in the last row of a page. */
export type Cursor = readonly (string | number)[]

/** What store functions take: the database itself, or a transaction of it. */
export type Db = Kysely<Schema> | Transaction<Schema>

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** `full`: an answered write survives the loss of power. `relaxed`: it survives the end of the process only. */
  readonly durability: Durability
  /** Whether this process alone writes here, so that what it holds in memory cannot be stale. */
  readonly exclusive: boolean
  /** Committed data; what was committed last may not be durable yet. */
  readonly read: Db
  /** Resolves when everything is durable that could be read when it was called. */
  durable(): Promise<void>
  /**
   * One transaction; resolves once it is durable. Runs again when it collided with another one, in turn with the others of
   * its lane: name the tenant, so that tenants do not wait for each other.
   */
  write<T>(work: (db: Db) => Promise<T>, lane?: string): Promise<T>
  /** Takes a named lock until the transaction ends; false if somebody holds it. */
  tryLock(db: Db, name: string): Promise<boolean>
  /** Waits for a named lock, held until the transaction ends. */
  lock(db: Db, name: string): Promise<void>
  ping(): Promise<void>
  /** Bytes of its data and, of the embedded database, of its log. */
  size(): Promise<{ data: number; log?: number }>
  close(): Promise<void>
}

export type Durability = 'full' | 'relaxed'

export interface DatabaseOptions {
  /** PostgreSQL when given. */
  url?: string
  /** Folder of the embedded database. */
  dataDir: string
  durability: Durability
  poolSize: number
  /** How long PostgreSQL may take for a statement. */
  timeoutMs?: number
  observer?: DatabaseObserver
  /** Replaces the sync of the log, for tests. */
  sync?: Sync
  /** The log could not be copied into the database; it grows until that succeeds. */
  onCheckpointFailure?: (error: unknown) => void
  /** The disk refused a sync: what was written since the last one is unknown. */
  onFatal?: (error: Error) => void
}
