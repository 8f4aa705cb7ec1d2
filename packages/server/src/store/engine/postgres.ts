import { Kysely, PostgresAdapter, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely'
import pg from 'pg'
import type { Database, DatabaseOptions } from './db.ts'
import { isCollision, isUnavailable, OpenError } from './failures.ts'
import { migrate } from '../migrations/index.ts'
import type { Schema } from '../schema/schema.ts'
import { clientWithTimeout } from './postgres-client.ts'
import { runInTransaction } from './transaction.ts'
import { Lanes } from './turns.ts'

// Counts and times arrive as numbers; all of ours are below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Transactions that met run again. On a busy machine one may meet each of the updates that are typed into its editor, every
 * 12 ms, and still get through after some seconds.
 */
const attempts = 60
/** The pause before an attempt is random, up to a bound that doubles until it is this. */
const maxPauseMs = 250
const defaultTimeoutMs = 10_000
/** A server that froze or lost its network in the middle of a transaction keeps its locks no longer than this. */
const idleInTransactionMs = 15_000

/**
 * Transactions are `repeatable read`: a handler may read, decide and write, and if anybody changed those rows meanwhile
 * PostgreSQL says so and the handler runs again. Handlers therefore have no effect outside their transaction.
 */
export async function openPostgres(options: DatabaseOptions & { url: string }): Promise<Database> {
  const { url, poolSize, durability, observer, timeoutMs = defaultTimeoutMs } = options
  await upgrade(url)
  const dialect = new PostgresDialect({
    pool: openPool({
      connectionString: url,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      // A statement that waits or works too long is cancelled by a database that can; the connection stays good.
      statement_timeout: timeoutMs * 0.9,
      Client: clientWithTimeout(timeoutMs),
      options: `-c synchronous_commit=${durability === 'full' ? 'on' : 'off'}`,
    }),
  })
  const db = new Kysely<Schema>({
    dialect,
    log({ query, queryDurationMillis }) {
      const isCommit = query.sql === 'commit'
      observer?.[isCommit ? 'commit' : 'statement'](queryDurationMillis / 1000)
    },
  })

  const compiler = new PostgresQueryCompiler()
  const adapter = new PostgresAdapter()
  const createAdapter = () => adapter
  const lanes = new Lanes()
  return {
    dialect: 'postgres',
    durability: options.durability,
    exclusive: false,
    read: db,
    // A commit is synced before anybody sees it.
    async durable() {},
    async write(work, lane = '') {
      const run = () =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute((transaction) =>
            runInTransaction(
              { dialect, compiler, createAdapter, connections: transaction.getExecutor() },
              work,
            ),
          )
      try {
        return await run()
      } catch (error) {
        if (!isCollision(error)) throw error
      }
      // What collided goes on one at a time, so that it meets only others' first attempts and holds no connection while it
      // waits. Not across servers: the lock that this would need outlives a server that froze.
      return lanes.take(lane, () => retry(run))
    },
    async tryLock(db, name) {
      const { rows } = await sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`.execute(db)
      return rows[0]?.taken === true
    },
    // A row and not an advisory lock: whoever waited for the row collides and runs again, and so sees what the holder
    // did. After an advisory lock it would still look at its older snapshot.
    async lock(db, name) {
      await db
        .insertInto('locks')
        .values({ name, taken: 1 })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ taken: sql`locks.taken + 1` }))
        .execute()
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    async size() {
      const { rows } = await sql<{ bytes: number }>`
        select pg_database_size(current_database()) as bytes`.execute(db)
      return { data: rows[0]?.bytes ?? 0 }
    },
    async close() {
      await db.destroy()
    },
  }
}

function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    application_name: 'plenum',
    ...config,
  })
  // A connection that breaks while idle or while checked out is replaced; without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** On connections of its own: to change a large table may take longer than any statement of a request may. */
async function upgrade(url: string): Promise<void> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: openPool({ connectionString: url, max: 2 }) }),
  })
  try {
    await migrate(db, 'postgres')
  } catch (error) {
    throw cannotOpen(error) ?? error
  } finally {
    await db.destroy()
  }
}

/** Wrong credentials, or no such database. The messages of PostgreSQL name the user and the database only. */
const refusals = /^(28|3D)/

function cannotOpen(cause: unknown): OpenError | undefined {
  const { code, message } = cause as { code?: string; message: string }
  const reason = message || code
  if (isUnavailable(cause)) return new OpenError(`PostgreSQL does not answer: ${reason}.`, { cause })
  return refusals.test(code ?? '') ? new OpenError(`PostgreSQL refuses: ${reason}.`, { cause }) : undefined
}

/** Runs again what still collides with the first attempts of others. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 2; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isCollision(error) || attempt === attempts) throw error
      const pauseMs = Math.random() * Math.min(maxPauseMs, 2 ** attempt)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
