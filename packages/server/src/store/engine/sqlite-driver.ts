import { DatabaseSync } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>
interface Prepared {
  statement: Statement
  /** Undefined if the statement gives no rows. */
  toRow: RowMaker | undefined
}

/** Preparing costs more than running: keep as many statements as the interface has, with room for `in` lists. */
const statementsKept = 1000
/** Lists of hundreds of values: seldom alike, and megabytes when kept. */
const longStatement = 2000

/** How long the statements of a transaction may hold the event loop in one piece; the last one may take longer. */
const maxBusyMs = 8

export class SqliteConnection implements DatabaseConnection {
  readonly raw: InstanceType<typeof DatabaseSync>
  readonly #observer: DatabaseObserver | undefined
  readonly #sharesSnapshots: boolean
  #snapshotOpen = false
  /** How long statements took since the event loop had its turn, as far as it is known here. */
  #busyMs = 0
  readonly #statements = new Map<string, Prepared>()

  /** With `sharesSnapshots`, reads that happen together share the price of taking and leaving a snapshot. */
  constructor(file: string, pragmas: string, observer?: DatabaseObserver, sharesSnapshots = false) {
    this.raw = new DatabaseSync(file)
    this.raw.exec(pragmas)
    this.#observer = observer
    this.#sharesSnapshots = sharesSnapshots
  }

  /** The next read sees everything that is committed by then. */
  readonly leaveSnapshot = (): void => {
    if (!this.#snapshotOpen) return
    this.#snapshotOpen = false
    this.#prepare('commit').statement.run()
  }

  #enterSnapshot(): void {
    if (this.#snapshotOpen) return
    this.#snapshotOpen = true
    this.#prepare('begin').statement.run()
    setImmediate(this.leaveSnapshot)
  }

  /** Runs at once, without the promises that Kysely puts around it: what the hot path uses. */
  run<R>(
    sql: string,
    values: readonly unknown[],
    observe = this.#observer?.statement,
  ): { rows: R[]; changes: number } {
    const began = performance.now()
    try {
      if (this.#sharesSnapshots) this.#enterSnapshot()
      const { statement, toRow } = this.#prepare(sql)
      const parameters = values.map(toSqlite)
      if (toRow) return { rows: statement.all(...parameters).map(toRow) as R[], changes: 0 }
      return { rows: [], changes: statement.run(...parameters).changes }
    } finally {
      const tookMs = performance.now() - began
      this.#busyMs += tookMs
      observe?.(tookMs / 1000)
    }
  }

  commit(): void {
    this.run('commit', [], this.#observer?.commit)
  }

  /** A transaction begins. */
  resetBusyTime(): void {
    this.#busyMs = 0
  }

  /** A transaction with many statements lets the event loop do other things in between. */
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#busyMs >= maxBusyMs && this.raw.isTransaction && !this.#sharesSnapshots) {
      this.#busyMs = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
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
      // Naming values here is cheaper than letting the addon make objects.
      statement.setReturnArrays(true)
      const columns = statement.columns().map(({ name }) => name)
      entry = { statement, toRow: columns.length > 0 ? rowMaker(columns) : undefined }
      if (sql.length > longStatement) return entry
      if (this.#statements.size >= statementsKept) this.#forgetOldest()
      this.#statements.set(sql, entry)
    }
    return entry
  }

  #forgetOldest(): void {
    const [oldest] = this.#statements.keys()
    if (oldest !== undefined) this.#statements.delete(oldest)
  }
}

type RowMaker = (values: unknown[]) => unknown

/** Makes an object of a row. With the names in its code it takes a fraction of the time of a loop over them. */
function rowMaker(columns: readonly string[]): RowMaker {
  const fields = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  // oxlint-disable-next-line no-implied-eval -- the code holds nothing but column names of our own statements, as quoted strings
  return new Function('values', `return { ${fields.join(', ')} }`) as RowMaker
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
    this.#connection.leaveSnapshot()
    this.#connection.raw.close()
  }
}

export function begin(connection: SqliteConnection): void {
  connection.resetBusyTime()
  connection.run('begin immediate', [])
}
export const commit = (connection: SqliteConnection) => connection.commit()

export function rollback(connection: SqliteConnection): void {
  // A statement that found the disk full has rolled back by itself; a second rollback would hide that error.
  if (connection.raw.isTransaction) connection.run('rollback', [])
}

/** Gives hot queries the connection of a Kysely instance, so that they run without Kysely's promises. */
export class DirectSqliteAdapter extends SqliteAdapter {
  readonly #connection: SqliteConnection
  readonly #assertOpen: (() => void) | undefined

  /** `assertOpen` throws when the transaction that the instance belongs to has ended. */
  constructor(connection: SqliteConnection, assertOpen?: () => void) {
    super()
    this.#connection = connection
    this.#assertOpen = assertOpen
  }

  get connection(): SqliteConnection {
    this.#assertOpen?.()
    return this.#connection
  }

  /** A migration that is killed half-way leaves nothing behind. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}
