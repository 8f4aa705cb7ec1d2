import type { ColumnDataType, Kysely, RawBuilder } from 'kysely'

/** The column types that differ between the two databases. */
export interface ColumnTypes {
  dialect: 'sqlite' | 'postgres'
  /** Ids compare by code point, so that pages ordered by id neither skip nor repeat rows. */
  id: ColumnDataType | RawBuilder<unknown>
  bytes: ColumnDataType
}

export interface Migration {
  /** Runs in a transaction. */
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>
  /**
   * Runs before `up`, outside of a transaction, if the database has data: creates indexes of large tables with
   * `concurrently`. `up` then creates them with `if not exists`. It may run again after it was interrupted.
   */
  prepare?(db: Kysely<unknown>): Promise<void>
  /** False: servers without this migration cannot work with the schema after it, so none may be running. */
  isCompatible?: boolean
}

export type Migrations = Readonly<Record<string, Migration>>
