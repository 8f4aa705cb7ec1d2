import type { CreateTableBuilder, Kysely } from 'kysely'
import type { ColumnTypes } from './migration.ts'

type Column =
  | 'id'
  | 'id?'
  | 'text'
  | 'text?'
  | 'integer'
  | 'integer?'
  | 'bigint'
  | 'bigint?'
  | 'bytes'
  | 'bytes?'

/** The functions with which migrations create tables. */
export function ddl(db: Kysely<unknown>, { id, bytes }: ColumnTypes) {
  const types = { id, text: 'text', integer: 'integer', bigint: 'bigint', bytes } as const

  /** Columns by name and type (`?`: may be null). The first `key` columns are the primary key. */
  const table = (name: string, key: number, columns: Record<string, Column>) => {
    let builder: CreateTableBuilder<string, string> = db.schema.createTable(name)
    for (const [column, type] of Object.entries(columns)) {
      const nullable = type.endsWith('?')
      builder = builder.addColumn(column, types[type.replace('?', '') as keyof typeof types], (c) =>
        nullable ? c : c.notNull(),
      )
    }
    return builder.addPrimaryKeyConstraint(`${name}_pk`, Object.keys(columns).slice(0, key))
  }
  /** A foreign key deletes the rows with the row of `parent` that has the same values in `key`. */
  const inside = <T extends CreateTableBuilder<string, string>>(
    builder: T,
    name: string,
    parent: string,
    key: string[],
  ) =>
    builder.addForeignKeyConstraint(`${name}_in_${parent}`, key, parent, key, (c) =>
      c.onDelete('cascade').onUpdate('cascade'),
    )
  const index = (on: string, columns: string[]) =>
    db.schema
      .createIndex(`${on}_by_${columns.slice(1).join('_') || columns[0]}`)
      .on(on)
      .columns(columns)
      .execute()

  return { table, inside, index }
}
