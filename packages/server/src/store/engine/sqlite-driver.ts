import { DatabaseSync } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'
import { mayWrite } from './direct-queries.ts'
import { type RowMaker, rowMaker } from './row-maker.ts'

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>
interface Prepared {
  statement: Statement
  /** Undefined if the statement returns no rows. */
  toRow: RowMaker | undefined
}

/** Preparing a statement costs more than running it. All statements of the server fit, also with lists of several lengths. */
const maxCachedStatements = 1000
/** Longer statements are not cached: they have lists of hundreds of values, rarely come again, and would take megabytes. */
const maxCachedStatementLength = 2000

/** The statements of a transaction hold the event loop this long before they yield. One statement may take longer. */
const maxBusyMs = 8

export class SqliteConnection implements DatabaseConnection {
  readonly raw: InstanceType<typeof DatabaseSync>
  readonly #observer: DatabaseObserver | undefined
  readonly #sharesSnapshots: boolean
  #snapshotOpen = false
  /** How long statements of the transaction took since it last yielded to the event loop. */
  #busyMs = 0
  readonly #statements = new Map<string, Prepared>()
  /** How many statements that may write were run. */
  writeCount = 0
  /**
   * Another number after each restore from a backup, 0 before the first. It is the `user_version` of the file, so that it
   * needs no table.
   */
  readonly generation: number

  /** With `sharesSnapshots`, all reads in one turn of the event loop share a snapshot, and so the cost of opening it. */
  constructor(file: string, pragmas: string, observer?: DatabaseObserver, sharesSnapshots = false) {
    this.raw = new DatabaseSync(file)
    this.raw.exec(pragmas)
    this.generation = (this.raw.prepare('pragma user_version').get() as { user_version: number }).user_version
    this.#observer = observer
    this.#sharesSnapshots = sharesSnapshots
  }

  /** Ends the snapshot, so that the next read sees every commit before it. */
  readonly leaveSnapshot = (): void => {
    if (!this.#snapshotOpen) return
    this.#snapshotOpen = false
    this.#prepare('commit').statement.run()
  }

  #enterSnapshot(): void {
    if (this.#snapshotOpen) return
    this.#prepare('begin').statement.run()
    // Set only now: a read after the database was closed fails above, and must leave nothing to end.
    this.#snapshotOpen = true
    setImmediate(this.leaveSnapshot)
  }

  /** Runs synchronously, without Kysely's promises. For the hot path. */
  run<R>(
    sql: string,
    values: readonly unknown[],
    observe = this.#observer?.statement,
  ): { rows: R[]; changes: number } {
    const began = performance.now()
    if (mayWrite(sql)) this.writeCount++
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

  /** Call it when a transaction begins. */
  resetBusyTime(): void {
    this.#busyMs = 0
  }

  /**
   * A transaction with many statements yields to the event loop between them. Statements of the hot path call `run`, which
   * never yields.
   */
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
      // Building objects here is cheaper than letting the addon build them.
      statement.setReturnArrays(true)
      const columns = statement.columns().map(({ name }) => name)
      entry = { statement, toRow: columns.length > 0 ? rowMaker(columns) : undefined }
      if (sql.length > maxCachedStatementLength) return entry
      if (this.#statements.size >= maxCachedStatements) this.#dropOldest()
      this.#statements.set(sql, entry)
    }
    return entry
  }

  #dropOldest(): void {
    const [oldest] = this.#statements.keys()
    if (oldest !== undefined) this.#statements.delete(oldest)
  }
}

const toSqlite = (value: unknown) =>
  value === undefined ? null : typeof value === 'boolean' ? Number(value) : value

/** Gives every query of a Kysely instance the same connection. Migrations and reads use it, but not `runInTransaction`. */
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
  // A statement that finds the disk full rolls back by itself. A second rollback would hide that error.
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

  /** Migrations run in a transaction, so a migration that is killed leaves nothing behind. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}
