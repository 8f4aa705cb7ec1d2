import { DatabaseSync } from '@photostructure/sqlite'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { LRUCache } from 'lru-cache'

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>
export type Observe = (seconds: number) => void

/** Preparing costs more than running: keep as many statements as the interface has, with room for `in` lists. */
const statementsKept = 1000

export class SqliteConnection implements DatabaseConnection {
  readonly raw: InstanceType<typeof DatabaseSync>
  readonly #observe: Observe | undefined
  readonly #statements = new LRUCache<string, { statement: Statement; reads: boolean }>({ max: statementsKept })

  constructor(file: string, pragmas: string, observe?: Observe) {
    this.raw = new DatabaseSync(file)
    this.raw.exec(pragmas)
    this.#observe = observe
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const began = performance.now()
    try {
      const { statement, reads } = this.#prepare(query.sql)
      const parameters = query.parameters.map(toSqlite)
      if (reads) return Promise.resolve({ rows: statement.all(...parameters) as R[] })
      const { changes } = statement.run(...parameters)
      return Promise.resolve({ rows: [], numAffectedRows: BigInt(changes) })
    } catch (error) {
      return Promise.reject(error as Error)
    } finally {
      this.#observe?.((performance.now() - began) / 1000)
    }
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

const begin = { sql: 'begin immediate', parameters: [] } as unknown as CompiledQuery
const commit = { sql: 'commit', parameters: [] } as unknown as CompiledQuery
const rollback = { sql: 'rollback', parameters: [] } as unknown as CompiledQuery

/** One connection. With `exclusive`, whoever holds it has it alone until it is released: the writer's queue. */
export class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection
  readonly #exclusive: boolean
  #held = false
  readonly #queue: (() => void)[] = []

  constructor(connection: SqliteConnection, exclusive: boolean) {
    this.#connection = connection
    this.#exclusive = exclusive
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#exclusive) {
      if (this.#held) await new Promise<void>((resolve) => this.#queue.push(resolve))
      this.#held = true
    }
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    const next = this.#queue.shift()
    if (next) next()
    else this.#held = false
  }

  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(begin)
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(commit)
  }

  async rollbackTransaction(): Promise<void> {
    // A statement that found the disk full has rolled back by itself; a second rollback would hide that error.
    if (this.#connection.raw.isTransaction) await this.#connection.executeQuery(rollback)
  }

  async destroy(): Promise<void> {
    this.#connection.raw.close()
  }
}
