import { sql } from 'kysely'
import type { ColumnType } from '../store/engine/batched.ts'
import type { Db } from '../store/engine/db.ts'
import { sqliteOf } from '../store/engine/prepared.ts'
import { type Table, tables } from '../store/schema/tables.ts'

/** A table as the catalog of a database describes it. */
export interface StoredTable {
  name: Table
  /** The types of the columns by name, in alphabetical order: the order in the table differs between databases. */
  columns: Readonly<Record<string, ColumnType>>
  /** Pages follow these columns, which are unique and have an index. */
  pageKey: readonly string[]
}

interface CatalogColumn {
  table: string
  column: string
  type: string
  /** The place of the column in the primary key, from 1; 0 or null if it is not part of it. */
  place: number | null
}

const sqliteCatalog = sql<CatalogColumn>`
  select m.name as "table", c.name as "column", lower(c.type) as type, c.pk as place
  from sqlite_master as m, pragma_table_info(m.name) as c where m.type = 'table' order by m.name, c.name`

const postgresCatalog = sql<CatalogColumn>`
  select relname as "table", attname as "column", format_type(atttypid, null) as type,
    array_position(indkey::int2[], attnum) + 1 as place
  from pg_attribute join pg_class on pg_class.oid = attrelid
  left join pg_index on indrelid = attrelid and indisprimary
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
  order by relname, attname collate "C"`

/** The events of an API key in the order of the log. Their primary key would lead through the events of all API keys. */
const eventsKey = ['api_key', 'transaction_id', 'event_id']

/** The tables of the database, parents before their children. */
export async function readTables(db: Db): Promise<StoredTable[]> {
  const { rows } = await (sqliteOf(db) ? sqliteCatalog : postgresCatalog).execute(db)
  return (Object.keys(tables) as Table[]).map((name) => {
    const found = rows.filter(({ table }) => table === name)
    const key = found.filter(({ place }) => place).sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
    return {
      name,
      columns: Object.fromEntries(found.map(({ column, type }) => [column, typeOf(type)])),
      pageKey: name === 'events' ? eventsKey : key.map(({ column }) => column),
    }
  })
}

function typeOf(type: string): ColumnType {
  if (type === 'text') return 'text'
  return type === 'blob' || type === 'bytea' ? 'bytea' : 'bigint'
}
