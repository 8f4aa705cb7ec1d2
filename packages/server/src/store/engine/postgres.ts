import { Kysely, PostgresAdapter, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely'
import pg from 'pg'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Database, DatabaseOptions } from './db.ts'
import { isCollision, isUnavailable, OpenError } from './failures.ts'
import { migrate } from '../migrations/index.ts'
import type { Schema } from '../schema/schema.ts'
import { clientWithTimeout } from './postgres-client.ts'
import { runInTransaction } from './transaction.ts'
import { LaneLimiters } from '../../platform/turns/limiter.ts'

// Parses counts and times as numbers: all of them are below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Transactions that collide run again. On a busy machine a transaction may collide with every update that is typed into its
 * editor, one every 12 ms, and still succeed after some seconds.
 */
const maxAttempts = 60
/** The pause before an attempt is random. Its upper bound doubles with every attempt, up to this value. */
const maxRetryPauseMs = 250
const defaultTimeoutMs = 10_000
/** A server that freezes or loses its network inside a transaction holds its locks no longer than this. */
const idleInTransactionTimeoutMs = 15_000

/**
 * Transactions are `repeatable read`: a handler may read, decide and write. If another transaction has meanwhile changed a
 * row that the handler writes, PostgreSQL reports a collision and the handler runs again. So handlers have no effect
 * outside their transaction.
 */
export async function openPostgres(options: DatabaseOptions & { url: string }): Promise<Database> {
  const { url, poolSize, durability, observer, timeoutMs = defaultTimeoutMs, clock = systemClock } = options
  await upgrade(url)
  const dialect = new PostgresDialect({
    pool: openPool({
      connectionString: url,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      // A running database cancels the statement itself before the client's timeout, and the connection stays usable.
      statement_timeout: timeoutMs * 0.9,
      Client: clientWithTimeout(timeoutMs, clock),
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
  const lanes = new LaneLimiters(1)
  return {
    dialect: 'postgres',
    durability: options.durability,
    exclusive: false,
    read: db,
    // With the durability `full`, PostgreSQL syncs a commit before its rows can be read.
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
      // The retries of a lane run one at a time, so that they collide only with first attempts and hold no connection while
      // they wait. Retries on other servers do not wait: the lock for that would outlive a server that froze.
      return lanes.run(lane, () => retry(run, clock))
    },
    async tryLock(db, name) {
      const { rows } = await sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`.execute(db)
      return rows[0]?.taken === true
    },
    // A row and not an advisory lock: a transaction that waited for the row collides and runs again, so it reads what the
    // holder wrote. After an advisory lock it would still read from its older snapshot.
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
  // A connection that breaks while it is idle or checked out is replaced. Without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Migrates with its own connections, without a timeout: changing a large table may take longer than a request may. */
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

/** Codes for wrong credentials and unknown databases. Their messages name the user and the database, but no password. */
const refusals = /^(28|3D)/

function cannotOpen(cause: unknown): OpenError | undefined {
  const { code, message } = cause as { code?: string; message: string }
  const reason = message || code
  if (isUnavailable(cause)) return new OpenError(`PostgreSQL does not answer: ${reason}.`, { cause })
  return refusals.test(code ?? '') ? new OpenError(`PostgreSQL refuses: ${reason}.`, { cause }) : undefined
}

/** Repeats the work while it collides with other transactions, up to attempt `maxAttempts`. */
async function retry<T>(work: () => Promise<T>, clock: Clock): Promise<T> {
  for (let attempt = 2; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isCollision(error) || attempt === maxAttempts) throw error
      const pauseMs = Math.random() * Math.min(maxRetryPauseMs, 2 ** attempt)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, pauseMs))
    }
  }
}
