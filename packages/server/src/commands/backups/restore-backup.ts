import { randomInt } from 'node:crypto'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import { loadSecrets } from '../../access/credentials/secrets.ts'
import type { Config } from '../../config.ts'
import { prepareDataDir } from '../../start/data-dir.ts'
import { readSettings } from '../../start/settings.ts'
import { dialectOf, lockFolder } from '../../store/engine/sqlite.ts'
import { SqliteConnection } from '../../store/engine/sqlite-driver.ts'
import { skipEventIds } from '../../store/event-log.ts'
import { migrations } from '../../store/migrations/index.ts'
import { schemaState } from '../../store/migrations/migrate.ts'
import type { Schema } from '../../store/schema/schema.ts'
import { CommandError } from '../failure.ts'
import { requireMatchingSecret } from '../database.ts'
import { say } from '../output.ts'
import type { RestoreOptions } from '../restore.ts'
import { openExisting, removeDatabase, secretBeside, syncFile, unusedName } from './database-files.ts'
import {
  describeRows,
  type Digests,
  differingTables,
  digestsOf,
  findDamage,
  takeDigests,
} from './table-digests.ts'

/**
 * Puts a backup in place. It is copied and checked first, and the copy then replaces the database at once, so that a crash
 * leaves either the old data or the new.
 */
export async function restoreBackup({ from, replace, withSecret }: RestoreOptions): Promise<void> {
  const { config } = readSettings()
  if (config.databaseUrl !== undefined) {
    throw new CommandError(
      'The data is in PostgreSQL. Restore a backup into an empty database with: pg_restore --no-owner --dbname="$DATABASE_URL" plenum.dump',
    )
  }
  const file = join(config.dataDir, 'plenum.db')
  const copy = `${file}.restoring`
  if (!existsSync(from)) throw new CommandError(`${from} does not exist.`)
  prepareDataDir(config.dataDir)
  const release = lockFolder(config.dataDir)
  try {
    if (existsSync(file) && !replace) {
      throw new CommandError(
        `${file} exists already. Add --replace; the present data is then kept beside it.`,
      )
    }
    removeDatabase(copy)
    copyFileSync(from, copy)
    chmodSync(copy, 0o600)
    const rows = await prepare(copy, { from, config, ...(withSecret && { withSecret }) })
    syncFile(copy)
    const kept = existsSync(file) ? setAside(file) : undefined
    renameSync(copy, file)
    syncFile(file)
    if (kept !== undefined) say(`The replaced database is kept in ${kept}.`)
    say(`Restored ${rows}. Clients load their open documents again.`)
  } finally {
    removeDatabase(copy)
    release()
  }
}

/** Checks the copy, and marks it as another generation of the data. Returns how many rows there are. */
async function prepare(
  copy: string,
  { from, config, withSecret }: { from: string; config: Config; withSecret?: true },
): Promise<string> {
  const refuse = (reason: string) => new CommandError(`${from} cannot be restored: ${reason}.`)
  const rows = check(copy, refuse)
  const connection = new SqliteConnection(copy, 'pragma journal_mode = delete; pragma synchronous = full;')
  const db = new Kysely<Schema>({ dialect: dialectOf(connection) })
  try {
    const state = await schemaState(db, migrations)
    if (state === 'empty') throw refuse('it is not a database of Plenum')
    if (state === 'newer') throw refuse('it was made by a newer version of Plenum')
    if (withSecret) placeSecret(from, config)
    const secretFile = join(config.dataDir, 'secret.key')
    if (config.secretKey === undefined && !existsSync(secretFile)) {
      throw refuse(`its secret is missing. Put it into ${secretFile}, or set SECRET_KEY`)
    }
    await requireMatchingSecret(loadSecrets(config), db)
    // Clients may have seen changes that the backup does not have. Under new epochs and event ids, they cannot confuse
    // them with other changes that get the same numbers.
    await db.transaction().execute(skipEventIds)
    connection.raw.exec(`pragma user_version = ${randomInt(1, 2 ** 31)}`)
  } finally {
    await db.destroy()
  }
  return rows
}

/** Throws if the copy is damaged, or its rows are not those that were backed up. Returns how many rows there are. */
function check(copy: string, refuse: (reason: string) => CommandError): string {
  const db = openExisting(copy)
  try {
    const damage = findDamage(db)
    if (damage !== undefined) throw refuse(`it is damaged (${damage})`)
    const expected = takeDigests(db)
    if (expected === undefined) {
      say('The backup was made with another program, so only its structure is checked.')
      return describeRows(db)
    }
    const [found] = digestsOf([db]) as [Digests]
    const differing = differingTables(expected, found)
    if (differing.length > 0) throw refuse(`it was changed or damaged (${differing.join(', ')})`)
    return describeRows(db)
  } finally {
    db.close()
  }
}

function placeSecret(from: string, { dataDir }: Config): void {
  const source = secretBeside(from)
  const target = join(dataDir, 'secret.key')
  if (!existsSync(source))
    throw new CommandError(
      `${source} does not exist. Put the secret of the backup there, or leave out --with-secret.`,
    )
  if (!existsSync(target)) {
    copyFileSync(source, target, constants.COPYFILE_EXCL)
    chmodSync(target, 0o600)
    syncFile(target)
  } else if (readFileSync(target, 'utf8') !== readFileSync(source, 'utf8')) {
    throw new CommandError(`${target} has another secret. Move it away first.`)
  }
}

/** Gives the database a second name, together with its log. Returns the name. */
function setAside(file: string): string {
  const kept = unusedName(`${file}.before-restore-`)
  try {
    // Closing the only connection copies the log into the file, and removes the log.
    openExisting(file).close()
  } catch {
    // A damaged database is kept as it is.
  }
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${kept}-wal`)
  rmSync(`${file}-shm`, { force: true })
  linkSync(file, kept)
  return kept
}
