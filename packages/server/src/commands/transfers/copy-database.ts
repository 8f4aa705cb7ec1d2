import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadSecrets } from '../../access/credentials/secrets.ts'
import { readSettings } from '../../start/settings.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { isRefusedRow } from '../../store/engine/failures.ts'
import { cannotOpen } from '../../store/engine/failures.ts'
import { openDatabase } from '../../store/engine/open.ts'
import { lockFolder } from '../../store/engine/sqlite.ts'
import { openSqliteSnapshot, type Snapshot } from '../../store/engine/sqlite-beside.ts'
import { continueEventIds, lastEventId } from '../../store/event-log.ts'
import { migrations } from '../../store/migrations/index.ts'
import { schemaState } from '../../store/migrations/migrate.ts'
import type { Table } from '../../store/schema/tables.ts'
import * as workspaces from '../../store/workspaces.ts'
import { databaseTables } from '../../transfer/database-tables.ts'
import { inserterFor } from '../../transfer/insert-rows.ts'
import { countRows, readRows } from '../../transfer/row-pages.ts'
import { RowsDigest } from '../../transfer/rows-digest.ts'
import { readTables, type StoredTable } from '../../transfer/stored-tables.ts'
import type { CopyOptions } from '../copy.ts'
import { requireCurrentSchema, requireMatchingSecret, requireNoServer } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { say, showProgress } from '../output.ts'

/** The time limit of one statement: an insert of a page, or the wait for another copy into the same database. */
const timeoutMs = 10 * 60 * 1000

type Digests = ReadonlyMap<Table, string>

/**
 * Copies the embedded database to PostgreSQL, in one transaction. So a copy that was interrupted has changed nothing, and a
 * server cannot see a part of it.
 */
export async function copyDatabase(options: CopyOptions): Promise<void> {
  const { config } = readSettings()
  const { from = config.dataDir, to = config.databaseUrl } = options
  if (to === undefined) throw new UsageError('Name the target with --to, or set DATABASE_URL.')
  if (!/^postgres(ql)?:\/\//.test(to) || !URL.canParse(to)) {
    throw new UsageError(
      '--to must be the URL of a PostgreSQL database, such as postgres://user@host/plenum.',
    )
  }
  if (!existsSync(join(from, 'plenum.db'))) throw new CommandError(`${from} has no embedded database.`)
  // The snapshot is opened under the lock, so no server writes after it.
  const release = lockFolder(from)
  let source: Snapshot | undefined
  try {
    source = openSqliteSnapshot(from)
    await requireCurrentSchema(source.read, 'the embedded database')
    await requireMatchingSecret(loadSecrets({ ...config, dataDir: from }), source.read)
    const target = await openTarget(to)
    try {
      await copyOrCompare(source.read, target)
    } finally {
      await target.close()
    }
    const secret =
      config.secretKey === undefined ? `the content of ${join(from, 'secret.key')}` : 'its present value'
    say(`Start the servers with DATABASE_URL, and with SECRET_KEY set to ${secret}.`)
    say('The embedded database is unchanged. Do not start a server with it again.')
  } finally {
    await source?.close()
    release()
  }
}

/** Opens the target, and creates the tables if it has none. Another schema than that of this version is left as it is. */
async function openTarget(url: string): Promise<Database> {
  const options = { url, dataDir: '', durability: 'full', poolSize: 2, timeoutMs } as const
  const target = await openDatabase({ ...options, keepsSchema: true })
  try {
    if ((await schemaState(target.read, migrations)) === 'empty') {
      await requireNoTables(target.read)
      await (await openDatabase(options)).close()
    }
    await requireCurrentSchema(target.read, 'the target')
    return target
  } catch (error) {
    await target.close()
    throw cannotOpen(error) ?? error
  }
}

/** An error names at most this many tables. */
const maxListedTables = 5

/** Throws if the target has tables, which then belong to another program. */
async function requireNoTables(db: Db): Promise<void> {
  const names = (await db.introspection.getTables()).map(({ name }) => name)
  if (names.length === 0) return
  const listed = names.slice(0, maxListedTables).join(', ')
  const more = names.length > maxListedTables ? ` and ${names.length - maxListedTables} more` : ''
  throw new CommandError(
    `The target has tables of another program: ${listed}${more}. Nothing was changed. Create an empty database, and name it with --to or DATABASE_URL.`,
  )
}

/** Copies into an empty target. A target with data is only compared, and servers may be using it. */
async function copyOrCompare(source: Db, target: Database): Promise<void> {
  const tables = (await readTables(source)).filter(({ name }) => !databaseTables.includes(name))
  let total = 0
  for (const table of tables) total += await countRows(source, table)
  const isNew = await workspaces.isEmpty(target.read)
  await target.write(async (db) => {
    // The connection waits while the other database is read.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(db)
    if (isNew) await prepareTarget(db, tables)
    const expected = await digestTables(
      isNew ? 'Copying' : 'Reading',
      source,
      tables,
      total,
      isNew ? db : undefined,
    )
    const found = await digestTables('Comparing', db, tables, total)
    const differing = tables.map(({ name }) => name).filter((name) => expected.get(name) !== found.get(name))
    if (differing.length > 0) throw differs(differing, isNew)
    if (isNew) await continueEventIds(db, await lastEventId(source))
  })
  say(`${total} rows in ${tables.length} tables, compared with the embedded database.`)
}

const differs = (tables: readonly Table[], isNew: boolean) =>
  new CommandError(
    isNew
      ? `The copy differs from the embedded database in ${tables.join(', ')}, so nothing was copied.`
      : `The target is not empty, and it differs from the embedded database in ${tables.join(', ')}. Nothing was changed. Copy into an empty database.`,
  )

/** Keeps servers and other copies out until the transaction ends, and removes what earlier servers left. */
async function prepareTarget(db: Db, tables: readonly StoredTable[]): Promise<void> {
  // A server that starts now waits for this lock, and so does another copy.
  await sql`lock table signing_keys in access exclusive mode`.execute(db)
  await requireNoServer(db)
  if (!(await workspaces.isEmpty(db)))
    throw new CommandError(
      'Another copy into this database has just ended. Run the command again to compare.',
    )
  // A server that was started with the empty database has stored a signing key, for example.
  for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db)
}

/** Reads all rows, and inserts them into `target` if there is one. */
async function digestTables(
  what: string,
  db: Db,
  tables: readonly StoredTable[],
  total: number,
  target?: Db,
): Promise<Digests> {
  const progress = showProgress(what)
  const digests = new Map<Table, string>()
  let done = 0
  for (const table of tables) {
    const digest = new RowsDigest()
    const insert = target && inserterFor(table.name, table.columns)
    for await (const rows of readRows(db, table)) {
      digest.add(rows)
      if (insert) await insertPage(table.name, () => insert(target, rows))
      progress.update((done += rows.length), total)
    }
    // Until PostgreSQL does it by itself, it would plan queries as for an empty table.
    if (target) await sql`analyze ${sql.table(table.name)}`.execute(target)
    digests.set(table.name, digest.toString())
  }
  progress.end()
  return digests
}

async function insertPage(table: Table, insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    if (!isRefusedRow(error)) throw error
    throw new CommandError(
      `PostgreSQL refuses a row of ${table}: ${(error as Error).message}. Nothing was copied.`,
      { cause: error },
    )
  }
}
