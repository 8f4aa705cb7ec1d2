import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sealContexts } from '../access/credentials/seal-contexts.ts'
import { loadSecrets, type Secrets } from '../access/credentials/secrets.ts'
import { type Config, databaseSettingsOf } from '../config.ts'
import { sql } from 'kysely'
import { prepareDataDir } from '../start/data-dir.ts'
import { cannotOpen } from '../store/engine/failures.ts'
import { openDatabase } from '../store/engine/open.ts'
import type { Db } from '../store/engine/db.ts'
import { openSqliteBeside, openSqliteSnapshot, type SharedDatabase } from '../store/engine/sqlite-beside.ts'
import { adoptServer } from '../store/event-log.ts'
import * as signingKeys from '../store/signing-keys.ts'
import { migrations } from '../store/migrations/index.ts'
import { schemaState } from '../store/migrations/migrate.ts'
import { CommandError } from './failure.ts'
import { say } from './output.ts'

/** Opens the configured database beside servers that may be running. Changes neither its schema nor its secrets. */
export async function openShared(config: Config): Promise<SharedDatabase> {
  const database =
    config.databaseUrl === undefined
      ? openSqliteBeside(config.dataDir)
      : await openDatabase({
          url: config.databaseUrl,
          dataDir: config.dataDir,
          durability: config.durability,
          poolSize: 2,
          keepsSchema: true,
        })
  try {
    await requireCurrentSchema(database.read)
  } catch (error) {
    await database.close()
    throw cannotOpen(error) ?? error
  }
  return database
}

/** As `openShared`, but a new installation gets its database, and an embedded database its secret, as at the first start. */
export async function openOrCreate(config: Config): Promise<SharedDatabase> {
  if (await isNew(config)) {
    if (config.databaseUrl === undefined) prepareDataDir(config.dataDir)
    loadSecrets(config)
    const database = await openDatabase(databaseSettingsOf(config))
    try {
      // Events need it for their order.
      await adoptServer(database)
    } finally {
      await database.close()
    }
    say('Created the database.')
  }
  return openShared(config)
}

async function isNew(config: Config): Promise<boolean> {
  if (config.databaseUrl === undefined) return !existsSync(join(config.dataDir, 'plenum.db'))
  const database = await openDatabase({ ...databaseSettingsOf(config), poolSize: 1, keepsSchema: true })
  try {
    return (await schemaState(database.read, migrations)) === 'empty'
  } catch (error) {
    throw cannotOpen(error) ?? error
  } finally {
    await database.close()
  }
}

/** Throws unless the database has the schema of this version. The error calls the database `name`. */
export async function requireCurrentSchema(db: Db, name = 'this database'): Promise<void> {
  const state = await schemaState(db, migrations)
  if (state === 'newer') {
    throw new CommandError(`A newer version of Plenum has upgraded ${name}. Use that version.`)
  }
  if (state !== 'current') {
    throw new CommandError(
      `The schema of ${name} is not up to date. Start a server with it once, with: plenum start`,
    )
  }
}

/** Throws if servers are connected to this PostgreSQL database. */
export async function requireNoServer(db: Db): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name ~ '^plenum [0-9]'`.execute(db)
  const count = rows[0]?.count ?? 0
  if (count > 0)
    throw new CommandError(`Servers have ${count} open connections to the database. Stop all servers first.`)
}

/**
 * Runs the work with a snapshot of the configured database, which does not change. Servers may be running. They do not wait
 * for the work, but the log of the embedded database grows meanwhile.
 */
export async function withSnapshot<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  if (config.databaseUrl === undefined) {
    const snapshot = openSqliteSnapshot(config.dataDir)
    try {
      await requireCurrentSchema(snapshot.read)
      return await work(snapshot.read)
    } finally {
      await snapshot.close()
    }
  }
  const database = await openShared(config)
  try {
    return await database.write(async (db) => {
      // The work may pause, for example for a slow disk.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(db)
      await sql`set transaction read only`.execute(db)
      return work(db)
    })
  } finally {
    await database.close()
  }
}

/** The secrets of the database. */
export async function secretsOf(config: Config, { read }: SharedDatabase): Promise<Secrets> {
  const secrets = loadSecrets(config)
  await requireMatchingSecret(secrets, read)
  return secrets
}

/** Whether the stored secrets were sealed with these. True if there is none yet. */
export async function matches(secrets: Secrets, db: Db): Promise<boolean> {
  const newest = await signingKeys.newest(db)
  try {
    if (newest) secrets.unseal(newest.privateJwk, sealContexts.signingKey(newest.keyId))
    return true
  } catch {
    return false
  }
}

/** Throws if the stored secrets were sealed with another `SECRET_KEY`. */
export async function requireMatchingSecret(secrets: Secrets, db: Db): Promise<void> {
  if (!(await matches(secrets, db))) {
    throw new CommandError(
      'SECRET_KEY does not match this database. Use the key of its server: from the environment, .env or the file secret.key in DATA_DIR.',
    )
  }
}
