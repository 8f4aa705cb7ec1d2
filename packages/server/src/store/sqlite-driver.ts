import { DatabaseSync } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import { LRUCache } from 'lru-cache'

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>
export type Observe = (seconds: number) => void

/** Preparing costs more than running: keep as many statements as the interface has, with room for `in` lists. */
const statementsKept = 1000

export class SqliteConnection implements DatabaseConnection {
  readonly raw: InstanceType<typeof DatabaseSync>
  readonly #observe: Observe | undefined
  readonly #statements = new LRUCache<string, { statement: Statement; reads: boolean }>({
    max: statementsKept,
  })

  constructor(file: string, pragmas: string, observe?: Observe) {
    this.raw = new DatabaseSync(file)
    this.raw.exec(pragmas)
    this.#observe = observe
  }

  /** Runs at once, without the promises that Kysely puts around it: what the hot path uses. */
  run<R>(sql: string, values: readonly unknown[]): { rows: R[]; changes: number } {
    const began = performance.now()
    try {
      const { statement, reads } = this.#prepare(sql)
      const parameters = values.map(toSqlite)
      if (reads) return { rows: statement.all(...parameters) as R[], changes: 0 }
      return { rows: [], changes: statement.run(...parameters).changes }
    } finally {
      this.#observe?.((performance.now() - began) / 1000)
    }
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = this.run<R>(sql, parameters)
    return { rows, numAffectedRows: BigInt(changes) }
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported: read pages instead.')
  }

  #prepare(sql: string) {
    let entry = this.#statements.get(sql)
    if (!entry) {
      const statement = this.raw.prepare(sql)
      entry = { statement, reads: statement.columns().length > 0 }
      this.#statements.set(sql, entry)
    }
    return entry
  }
}

const toSqlite = (value: unknown) =>
  value === undefined ? null : typeof value === 'boolean' ? Number(value) : value

/** Gives every user of a Kysely instance its one connection. Whoever writes has taken the writer's turn before. */
export class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    begin(this.#connection)
  }

  async commitTransaction(): Promise<void> {
    commit(this.#connection)
  }

  async rollbackTransaction(): Promise<void> {
    rollback(this.#connection)
  }

  async destroy(): Promise<void> {
    this.#connection.raw.close()
  }
}

export const begin = (connection: SqliteConnection) => connection.run('begin immediate', [])
export const commit = (connection: SqliteConnection) => connection.run('commit', [])

export function rollback(connection: SqliteConnection): void {
  // A statement that found the disk full has rolled back by itself; a second rollback would hide that error.
  if (connection.raw.isTransaction) connection.run('rollback', [])
}

/** Tells the hot path which connection an instance has. */
export class DirectSqliteAdapter extends SqliteAdapter {
  readonly connection: SqliteConnection

  constructor(connection: SqliteConnection) {
    super()
    this.connection = connection
  }

  /** A migration that is killed half-way leaves nothing behind. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}
