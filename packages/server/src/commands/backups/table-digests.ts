import { createHash } from 'node:crypto'
import { tables } from '../../store/schema/tables.ts'
import { databaseTables } from '../../transfer/database-tables.ts'
import { showProgress } from '../output.ts'
import type { SqliteFile } from './database-files.ts'

/** How many rows are hashed between two reports of progress. */
const rowsPerReport = 1000
/** The table of a backup with its own digests. A restored database does not have it. */
const digestTable = 'backup_digests'

/** The number of rows of a table, and a hash of their content in the order in which they are stored. */
export type Digests = ReadonlyMap<string, string>

/** Reads all rows of the files, which have the same number of rows. */
export function digestsOf(files: readonly SqliteFile[]): Digests[] {
  const total = files.reduce((sum, db) => sum + countRows(db), 0)
  const progress = showProgress('Checking')
  let done = 0
  const onRows = (more: number) => progress.update((done += more), total)
  const digests = files.map(
    (db) => new Map(tablesOf(db).map((table) => [table, digestOf(db, table, onRows)])),
  )
  progress.end()
  return digests
}

/** The tables whose rows differ, or that only one of the two has. */
export const differingTables = (a: Digests, b: Digests): string[] =>
  [...new Set([...a.keys(), ...b.keys()])].filter((table) => a.get(table) !== b.get(table))

export function storeDigests(db: SqliteFile, digests: Digests): void {
  db.exec(`create table ${digestTable} (name text primary key, digest text not null) strict`)
  const insert = db.prepare(`insert into ${digestTable} values (?, ?)`)
  for (const [name, digest] of digests) insert.run(name, digest)
}

/** Takes the digests out of a backup. Undefined: the backup was made with another program. */
export function takeDigests(db: SqliteFile): Digests | undefined {
  const hasTable = db.prepare(`select 1 from sqlite_master where name = ?`).get(digestTable) !== undefined
  if (!hasTable) return undefined
  const rows = db.prepare(`select name, digest from ${digestTable}`).all() as {
    name: string
    digest: string
  }[]
  db.exec(`drop table ${digestTable}`)
  return new Map(rows.map(({ name, digest }) => [name, digest]))
}

const quoted = (table: string) => `"${table}"`

const tablesOf = (db: SqliteFile): string[] =>
  (
    db.prepare(`select name from sqlite_master where type = 'table' order by name`).all() as {
      name: string
    }[]
  ).map(({ name }) => name)

function digestOf(db: SqliteFile, table: string, onRows: (rows: number) => void): string {
  const hash = createHash('sha256')
  const statement = db.prepare(`select * from ${quoted(table)}`)
  statement.setReturnArrays(true)
  let rows = 0
  for (const row of statement.iterate() as Iterable<unknown>) {
    const values = row as unknown[]
    const texts = values.map((value) => (value instanceof Uint8Array ? { bytes: value.length } : value))
    hash.update(JSON.stringify(texts))
    for (const value of values) if (value instanceof Uint8Array) hash.update(value)
    if (++rows % rowsPerReport === 0) onRows(rowsPerReport)
  }
  onRows(rows % rowsPerReport)
  return `${rows} ${hash.digest('hex')}`
}

const countRows = (db: SqliteFile, tables: readonly string[] = tablesOf(db)): number =>
  tables.reduce((sum, table) => {
    const { count } = db.prepare(`select count(*) as count from ${quoted(table)}`).get() as { count: number }
    return sum + count
  }, 0)

/** How many rows the database has. Those that describe the database itself are not copied to another one (`plenum copy`). */
export function describeRows(db: SqliteFile): string {
  const isContent = (table: string) =>
    table in tables && !(databaseTables as readonly string[]).includes(table)
  const [content, other] = [tablesOf(db).filter(isContent), tablesOf(db).filter((table) => !isContent(table))]
  return `${countRows(db, content)} rows in ${content.length} tables, and ${countRows(db, other)} that describe the database`
}

/** Returns what is wrong with the structure of the file, or undefined. */
export function findDamage(db: SqliteFile): string | undefined {
  try {
    const [first] = db.prepare('pragma integrity_check(1)').all() as { integrity_check: string }[]
    return first?.integrity_check === 'ok' ? undefined : (first?.integrity_check ?? 'no answer')
  } catch (error) {
    return (error as Error).message
  }
}
