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
  const file = join(dataDir, 'plenum.db')
  if (!existsSync(file)) {
    throw new OpenError(`${file} does not exist yet. Start a server once, with: plenum start`)
  }
  const connection = new SqliteConnection(
    file,
    // Without automatic checkpoints: a running server makes them.
    `pragma busy_timeout = 5000; pragma synchronous = full; pragma foreign_keys = on; pragma wal_autocheckpoint = 0;`,
  )
  const db = new Kysely<Schema>({ dialect: dialectOf(connection) })
  return {
    dialect: 'sqlite',
    read: db,
    write: (work) => db.transaction().execute(work),
    // Transactions begin with the lock for writing, so inside a transaction every lock is free.
    async lock() {},
    close: () => db.destroy(),
  }
}
