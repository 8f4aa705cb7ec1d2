import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../store/engine/db.ts'
import type { Value } from '../store/engine/prepared.ts'
import type { StoredTable } from './stored-tables.ts'

export type Row = Record<string, Value>

/** Only rows with these values, such as those of an API key. */
export type Scope = Readonly<Row>

/** A page has this many rows and bytes at most, but always one row: a row has about 1 MiB at most. */
const maxRowsPerPage = 1000
const maxBytesPerPage = 4 * 1024 * 1024

interface Page {
  rows: Row[]
  /** The key of the last row. */
  last: Row
}

/** Reads the rows of a snapshot in pages. Folders come after the folders that contain them. */
export function readRows(db: Db, table: StoredTable, scope: Scope = {}): AsyncGenerator<Row[]> {
  return table.name === 'folders' ? readFolders(db, table, scope) : readInOrder(db, table, scope)
}

async function* readInOrder(db: Db, table: StoredTable, scope: Scope): AsyncGenerator<Row[]> {
  let page: Page | undefined
  while ((page = await readPage(db, table, scope, page?.last))) yield page.rows
}

/** Goes into the subfolders of a page before it reads the next page, so it remembers one page for each level. */
async function* readFolders(db: Db, table: StoredTable, scope: Scope): AsyncGenerator<Row[]> {
  const inFolder = sql`(api_key, organization_id, parent_folder_id)`
  const levels: { matches: RawBuilder<unknown>; last?: Row }[] = [{ matches: sql`parent_folder_id is null` }]
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const page = await readPage(db, table, scope, level.last, level.matches)
    if (!page) {
      levels.pop()
      continue
    }
    yield page.rows
    level.last = page.last
    const folders = page.rows.map((row) => sql`(${row.api_key}, ${row.organization_id}, ${row.folder_id})`)
    levels.push({ matches: sql`${inFolder} in (values ${sql.join(folders)})` })
  }
}

/**
 * Reads the sizes of the next rows first, and then as many rows as fit into a page. The limit counts them: with an upper bound
 * for the key, PostgreSQL would read to the end of the table. Undefined: there are no more rows.
 */
async function readPage(
  db: Db,
  { name, columns, pageKey }: StoredTable,
  scope: Scope,
  after: Row | undefined,
  matches: RawBuilder<unknown> = sql`1 = 1`,
): Promise<Page | undefined> {
  // Without the columns of the scope: with them, SQLite would read from the start of the scope.
  const compared = pageKey.filter((column) => !(column in scope))
  const isLater =
    after && compared.length > 0
      ? sql`(${refs(compared)}) > (${sql.join(compared.map((column) => after[column]))})`
      : sql`1 = ${after ? 0 : 1}`
  const which = sql`where ${isIn(scope)} and ${matches} and ${isLater} order by ${refs(pageKey)}`
  const { rows: next } = await sql<Row & { size: number }>`
    select ${refs(pageKey)}, ${sizeOf(columns)} as size from ${sql.table(name)} ${which}
    limit ${sql.lit(maxRowsPerPage)}`.execute(db)
  let bytes = 0
  const fitting = next.filter(({ size }, index) => (bytes += size) <= maxBytesPerPage || index === 0)
  const last = fitting.at(-1)
  if (!last) return undefined
  const { rows } = await sql<Row>`
    select ${refs(Object.keys(columns))} from ${sql.table(name)} ${which}
    limit ${sql.lit(fitting.length)}`.execute(db)
  return { rows, last }
}

const refs = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)))

const isIn = (scope: Scope) =>
  sql.join(
    [sql`1 = 1`, ...Object.entries(scope).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)],
    sql` and `,
  )

/** The size of texts and bytes in a row. Neither database reads large values to tell their size. */
function sizeOf(columns: StoredTable['columns']): RawBuilder<unknown> {
  const sizes = Object.entries(columns)
    .filter(([, type]) => type !== 'bigint')
    .map(([column]) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
  return sizes.length === 0 ? sql`0` : sql.join(sizes, sql` + `)
}

export async function countRows(db: Db, { name }: StoredTable, scope: Scope = {}): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(name)} where ${isIn(scope)}`.execute(db)
  return rows[0]?.count ?? 0
}
