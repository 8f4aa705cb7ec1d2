import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Database } from './db.ts'
import { OpenError } from './failures.ts'
import { dialectOf } from './sqlite.ts'
import { SqliteConnection } from './sqlite-driver.ts'

/** What a command needs of a database that a server may be using at the same time. */
export type SharedDatabase = Pick<Database, 'dialect' | 'read' | 'write' | 'lock' | 'close'>

/**
 * Opens the embedded database without the lock of the folder, so that a server may be running. Nothing is created or
 * migrated. A write must not change what a running server caches, such as the tokens of an API key.
 */
export function openSqliteBeside(dataDir: string): SharedDatabase {
  const db = open(dataDir)
  return {
    dialect: 'sqlite',
    read: db,
    write: (work) => db.transaction().execute(work),
    // Transactions begin with the lock for writing, so inside a transaction every lock is free.
    async lock() {},
    close: () => db.destroy(),
  }
}

export type Snapshot = Pick<Database, 'read' | 'close'>

/** Opens a snapshot of the embedded database. It can only be read, and does not change until it is closed. */
export function openSqliteSnapshot(dataDir: string): Snapshot {
  const read = open(dataDir, 'pragma query_only = on; begin')
  return { read, close: () => read.destroy() }
}

function open(dataDir: string, more = ''): Kysely<Schema> {
  const file = join(dataDir, 'plenum.db')
  if (!existsSync(file)) {
    throw new OpenError(`${file} does not exist yet. Start a server once, with: plenum start`)
  }
  // Without automatic checkpoints: a running server makes them.
  const pragmas = `pragma busy_timeout = 5000; pragma synchronous = full; pragma foreign_keys = on; pragma wal_autocheckpoint = 0; pragma secure_delete = on;`
  return new Kysely<Schema>({ dialect: dialectOf(new SqliteConnection(file, pragmas + more)) })
}
