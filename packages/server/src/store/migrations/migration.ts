import type { ColumnDataType, Kysely, RawBuilder } from 'kysely'

/** The column types that differ between the two databases. */
export interface ColumnTypes {
  dialect: 'sqlite' | 'postgres'
  /** Ids compare by code point, so that pages ordered by id neither skip nor repeat rows. */
  id: ColumnDataType | RawBuilder<unknown>
  bytes: ColumnDataType
}

export interface Migration {
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>
}
