import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type pg from 'pg'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'
import { BatchedReads } from './batched-reads.ts'
import type { TransactionLimits } from './db.ts'
import { type DirectQueries, type DirectQuery, mayWrite } from './direct-queries.ts'
import { sendNamed } from './named-statements.ts'

/** A connection that one transaction uses. */
export class PostgresConnection implements DatabaseConnection, DirectQueries {
  readonly #client: pg.Client
  readonly #observer: DatabaseObserver | undefined
  #smallReads: BatchedReads | undefined
  /** How many statements that may write were sent. */
  writeCount = 0

  constructor(client: pg.Client, observer: DatabaseObserver | undefined) {
    this.#client = client
    this.#observer = observer
  }

  async begin({ lockMs, pauseMs }: TransactionLimits): Promise<void> {
    let begin = 'begin isolation level repeatable read'
    if (lockMs !== undefined) begin += `; set local lock_timeout = ${lockMs}`
    if (pauseMs !== undefined) begin += `; set local idle_in_transaction_session_timeout = ${pauseMs}`
    await this.#observed(this.#client.query(begin))
  }

  async commit(): Promise<void> {
    const { command } = await this.#observed(this.#client.query('commit'), this.#observer?.commit)
    // After a failed statement, PostgreSQL answers a commit with a rollback and reports no error.
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: one of its statements failed.')
  }

  async rollback(): Promise<void> {
    await this.#client.query('rollback')
  }

  run<Row>({ sql, isSmallRead }: DirectQuery, values: unknown[]): Promise<Row[]> {
    if (mayWrite(sql)) this.writeCount++
    if (!isSmallRead) return this.#observed(sendNamed<Row>(this.#client, sql, values))
    this.#smallReads ??= new BatchedReads(() => this.#client, { isTransaction: true })
    return this.#observed(this.#smallReads.read(sql, values))
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (mayWrite(sql)) this.writeCount++
    const { rows, rowCount } = await this.#observed(this.#client.query(sql, [...parameters]))
    return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming is not supported: read pages instead.')
  }

  async #observed<T>(answer: Promise<T>, observe = this.#observer?.statement): Promise<T> {
    const began = performance.now()
    try {
      return await answer
    } finally {
      observe?.((performance.now() - began) / 1000)
    }
  }
}
