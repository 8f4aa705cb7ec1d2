import {
  type ConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  DummyDriver,
  type QueryCompiler,
  Transaction,
} from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Db } from './db.ts'

/**
 * A query was sent through the `db` of a transaction that has ended. On SQLite it would run inside the transaction of
 * another request; on PostgreSQL it would run on a connection that another request uses by now.
 */
export class EndedTransactionError extends Error {
  constructor() {
    super(
      'A query was sent through the `db` of a transaction that has ended. Inside the function that is given to `write`, await every query and keep no reference to `db`.',
    )
  }
}

/** How the queries of one transaction are compiled, and on which connection they run. */
export interface TransactionDeps {
  dialect: Dialect
  compiler: QueryCompiler
  /** Called once per transaction. Hot queries read the connection from the adapter, see `sqliteOf`. */
  createAdapter: (assertOpen: () => void) => DialectAdapter
  connections: ConnectionProvider
}

/** Kysely demands a driver for beginning transactions, but no transaction begins inside another one. */
const noDriver = new DummyDriver()

/** Runs the work of one transaction. Its `db` throws as soon as the work is done, before the commit or rollback. */
export async function runInTransaction<T>(deps: TransactionDeps, work: (db: Db) => Promise<T>): Promise<T> {
  let isOpen = true
  const assertOpen = () => {
    if (!isOpen) throw new EndedTransactionError()
  }
  const { dialect, compiler, connections } = deps
  const guarded: ConnectionProvider = {
    // Async, so that a query that comes too late rejects like every query that fails.
    async provideConnection(consumer) {
      assertOpen()
      return connections.provideConnection(consumer)
    },
  }
  const executor = new DefaultQueryExecutor(compiler, deps.createAdapter(assertOpen), guarded)
  const db = new Transaction<Schema>({ config: { dialect }, driver: noDriver, dialect, executor })
  try {
    return await work(db)
  } finally {
    isOpen = false
  }
}
