import { PostgresAdapter } from 'kysely'

/** A compiled query of the hot path. */
export interface DirectQuery {
  readonly sql: string
  /** Whether it is a read whose rows are few and small, so that it may share a statement with other reads. */
  readonly isSmallRead: boolean
}

/** False if the statement only reads. True if in doubt. */
export const mayWrite = (sql: string): boolean => !/^\s*select\b/.test(sql)

/** Runs queries on PostgreSQL without Kysely. */
export interface DirectQueries {
  run<Row>(query: DirectQuery, values: unknown[]): Promise<Row[]>
}

/** Gives hot queries a way to PostgreSQL that does not pass through Kysely. */
export class DirectPostgresAdapter extends PostgresAdapter {
  readonly #queries: DirectQueries
  readonly #assertOpen: (() => void) | undefined

  /** `assertOpen` throws when the transaction that the queries belong to has ended. */
  constructor(queries: DirectQueries, assertOpen?: () => void) {
    super()
    this.#queries = queries
    this.#assertOpen = assertOpen
  }

  get queries(): DirectQueries {
    this.#assertOpen?.()
    return this.#queries
  }
}
