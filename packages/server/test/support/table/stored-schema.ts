import { sql } from 'kysely'
import type { Database } from '../../../src/store/engine/db.ts'

/** A table as the catalog of the database describes it. */
export interface StoredTable {
  name: string
  /** In their order. */
  columns: string[]
  /** In their order. */
  primaryKey: string[]
  /** The columns of each unique index, also those of the primary key. */
  uniqueIndexes: string[][]
  foreignKeys: ForeignKey[]
}

export interface ForeignKey {
  columns: string[]
  parent: string
  onDelete: string
  onUpdate: string
}

/** The tables of the server, without the tables of the migrator. */
export async function readSchema(database: Database): Promise<StoredTable[]> {
  const tables = await (database.dialect === 'sqlite' ? readSqlite(database) : readPostgres(database))
  return tables.filter(({ name }) => !name.startsWith('kysely_')).sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function readSqlite({ read }: Database): Promise<StoredTable[]> {
  const { rows: names } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`.execute(read)
  const tables: StoredTable[] = []
  for (const { name } of names) {
    const { rows: columns } = await sql<{ name: string; pk: number }>`
      select name, pk from pragma_table_info(${name}) order by cid`.execute(read)
    const { rows: keys } = await sql<{
      id: number
      parent: string
      child: string
      on_delete: string
      on_update: string
    }>`
      select id, "table" as parent, "from" as child, on_delete, on_update
      from pragma_foreign_key_list(${name}) order by id, seq`.execute(read)
    const { rows: indexed } = await sql<{ index: string; column: string }>`
      select list.name as "index", info.name as "column"
      from pragma_index_list(${name}) as list, pragma_index_info(list.name) as info
      where list."unique" = 1 order by list.name, info.seqno`.execute(read)
    tables.push({
      name,
      columns: columns.map((column) => column.name),
      uniqueIndexes: [...new Set(indexed.map(({ index }) => index))].map((index) =>
        indexed.filter((row) => row.index === index).map(({ column }) => column),
      ),
      primaryKey: columns
        .filter(({ pk }) => pk > 0)
        .sort((a, b) => a.pk - b.pk)
        .map((column) => column.name),
      foreignKeys: [...new Set(keys.map(({ id }) => id))].map((id) => {
        const parts = keys.filter((key) => key.id === id)
        const [first] = parts
        return {
          columns: parts.map(({ child }) => child),
          parent: first!.parent,
          onDelete: first!.on_delete.toLowerCase(),
          onUpdate: first!.on_update.toLowerCase(),
        }
      }),
    })
  }
  return tables
}

/** The codes for the actions of a foreign key in the catalog of PostgreSQL. */
const actions: Record<string, string> = { a: 'no action', c: 'cascade', n: 'set null', r: 'restrict' }

async function readPostgres({ read }: Database): Promise<StoredTable[]> {
  const { rows: columns } = await sql<{ name: string; column: string }>`
    select relname as name, attname as "column" from pg_attribute
    join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = current_schema() and relkind = 'r' and attnum > 0 and not attisdropped
    order by relname, attnum`.execute(read)
  const { rows: constraints } = await sql<{
    name: string
    type: 'p' | 'f'
    columns: string[]
    parent: string | null
    on_delete: string
    on_update: string
  }>`
    select child.relname as name, contype as type, parent.relname as parent,
      confdeltype as on_delete, confupdtype as on_update,
      (select array_agg(attname::text order by place)
        from unnest(conkey) with ordinality as key(number, place)
        join pg_attribute on attrelid = conrelid and attnum = number) as columns
    from pg_constraint join pg_class as child on child.oid = conrelid
    left join pg_class as parent on parent.oid = confrelid
    where contype in ('p', 'f') and connamespace = current_schema()::regnamespace`.execute(read)
  const { rows: unique } = await sql<{ name: string; columns: string[] }>`
    select relname as name, (select array_agg(attname::text order by place)
      from unnest(indkey::int2[]) with ordinality as key(number, place)
      join pg_attribute on attrelid = indrelid and attnum = number) as columns
    from pg_index join pg_class on pg_class.oid = indrelid
    where indisunique and relnamespace = current_schema()::regnamespace`.execute(read)
  const names = [...new Set(columns.map(({ name }) => name))]
  return names.map((name) => {
    const own = constraints.filter((constraint) => constraint.name === name)
    return {
      name,
      columns: columns.filter((row) => row.name === name).map(({ column }) => column),
      uniqueIndexes: unique.filter((index) => index.name === name).map((index) => index.columns),
      primaryKey: own.find(({ type }) => type === 'p')?.columns ?? [],
      foreignKeys: own
        .filter(({ type }) => type === 'f')
        .map((key) => ({
          columns: key.columns,
          parent: key.parent!,
          onDelete: actions[key.on_delete] ?? key.on_delete,
          onUpdate: actions[key.on_update] ?? key.on_update,
        })),
    }
  })
}
