import { Kysely, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely'
import pg from 'pg'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { DatabaseObserver } from '../../platform/metrics/metrics.ts'
import { BatchedReads } from './batched-reads.ts'
import type { Database, DatabaseOptions, TransactionLimits } from './db.ts'
import { DirectPostgresAdapter, type DirectQueries, type DirectQuery } from './direct-queries.ts'
import { cannotOpen, isCollision } from './failures.ts'
import { migrations as allMigrations } from '../migrations/index.ts'
import type { Schema } from '../schema/schema.ts'
import { FullDisk } from './full-disk.ts'
import { GroupWriter, maxLockWaitMs, type Transact } from './group-writer.ts'
import { sendNamed } from './named-statements.ts'
import { clientWithTimeout } from './postgres-client.ts'
import { requirePreparedStatements } from './poolers.ts'
import { PostgresConnection } from './postgres-connection.ts'
import { applicationName, withUpgrade } from './postgres-upgrade.ts'
import { SharedConnection } from './shared-connection.ts'
import { runInTransaction } from './transaction.ts'
import { LaneLimiters } from '../../platform/turns/limiter.ts'

// Parses counts and times as numbers: all of them are below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Transactions that collide run again. On a busy machine a transaction may collide with every update that is typed into its
 * editor, one every 12 to 30 ms, and still succeed after some seconds.
 */
const maxAttempts = 60
/**
 * After this many attempts, each work of a shared transaction runs alone, so that one that collides often does not delay the
 * others.
 */
const maxSharedAttempts = 3
/** The pause before an attempt is random. Its upper bound doubles with every attempt, up to this value. */
const maxRetryPauseMs = 250
const defaultTimeoutMs = 10_000
/** A server that freezes or loses its network inside a transaction holds its locks no longer than this. */
const idleInTransactionTimeoutMs = 5_000

/** A transaction that short works share begins no further work after this time. */
const maxGroupMs = 15

/**
 * Transactions are `repeatable read`: a handler may read, decide and write. If another transaction has meanwhile changed a
 * row that the handler writes, PostgreSQL reports a collision and the handler runs again. So handlers have no effect
 * outside their transaction.
 */
export async function openPostgres(options: DatabaseOptions & { url: string }): Promise<Database> {
  const { url, migrations = allMigrations, clock = systemClock, onUpgradeWaits: onWait = () => {} } = options
  const server = {
    ...connectionDefaults,
    connectionString: url,
    application_name: options.keepsSchema ? 'plenum-command' : applicationName(migrations),
  }
  // Without a timeout for statements: changing a large table may take longer than a request may.
  const openUpgradePool = (config: pg.PoolConfig) => openPool({ ...server, ...config })
  const open = () => connect(server, options)
  try {
    if (options.keepsSchema) return await open()
    return await withUpgrade({ openPool: openUpgradePool, migrations, clock, onWait }, open)
  } catch (error) {
    throw cannotOpen(error) ?? error
  }
}

async function connect(server: pg.ClientConfig, options: DatabaseOptions): Promise<Database> {
  const { poolSize, durability, observer, timeoutMs = defaultTimeoutMs, clock = systemClock } = options
  const Client = clientWithTimeout(timeoutMs, clock)
  const connection: pg.ClientConfig = {
    ...server,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    // A running database cancels the statement itself before the client's timeout, and the connection stays usable.
    statement_timeout: timeoutMs * 0.9,
    options: `-c synchronous_commit=${durability === 'full' ? 'on' : 'off'}`,
  }
  const pool = openPool({ ...connection, max: poolSize, idleTimeoutMillis: 30_000, Client })
  await requirePreparedStatements(pool).catch(async (error: unknown) => {
    await pool.end()
    throw error
  })
  // Statements follow each other on this connection without waiting for answers. A slow one would delay all others.
  const pipeline = new SharedConnection(() => new Client({ ...connection, pipeline: true }))
  const apart = new SharedConnection(() => new Client({ ...connection }))
  const smallReads = new BatchedReads(pipeline.client, { isTransaction: false })
  const directReads: DirectQueries = {
    async run<Row>({ sql, isSmallRead }: DirectQuery, values: unknown[]) {
      const began = performance.now()
      try {
        return await (isSmallRead ? smallReads.read<Row>(sql, values) : readAlone<Row>(pool, sql, values))
      } finally {
        observer?.statement((performance.now() - began) / 1000)
      }
    },
  }
  const dialect = new PostgresDialect({ pool })
  const readAdapter = new DirectPostgresAdapter(directReads)
  dialect.createAdapter = () => readAdapter
  const db = new Kysely<Schema>({
    dialect,
    log({ queryDurationMillis }) {
      observer?.statement(queryDurationMillis / 1000)
    },
  })

  const compiler = new PostgresQueryCompiler()
  const disk = new FullDisk(clock)
  const retries = new LaneLimiters(1)
  // Transactions of one tenant may wait for each other, each with a connection. Other tenants need some too.
  const connections = new LaneLimiters(Math.max(1, Math.floor(poolSize / 2)))
  const transact: Transact = async (works, lane, { isShared = false, limits = {} } = {}) => {
    const runHere = () =>
      runOnce(pool, disk, observer, isShared ? { lockMs: maxLockWaitMs } : limits, (connection) => {
        const deps = {
          dialect,
          compiler,
          createAdapter: (assertOpen: () => void) => new DirectPostgresAdapter(connection, assertOpen),
          connections: { provideConnection: <T>(consumer: Consumer<T>) => consumer(connection) },
        }
        return works({
          run: (work) => runInTransaction(deps, work),
          get writeCount() {
            return connection.writeCount
          },
        })
      })
    // Transactions of the server itself have no lane: what makes them limits them, and they may hold data of all tenants.
    const hasLane = lane !== ''
    const run = () => (hasLane ? connections.run(lane, runHere) : runHere())
    try {
      return await run()
    } catch (error) {
      if (!isCollision(error)) throw error
    }
    // The retries of a lane run one at a time, so that they collide only with first attempts and hold no connection while
    // they wait. Retries on other servers do not wait: the lock for that would outlive a server that froze.
    const retryHere = () => retry(run, clock, isShared ? maxSharedAttempts : maxAttempts)
    return hasLane ? retries.run(lane, retryHere) : retryHere()
  }
  const groups = new GroupWriter(transact, { lanesShare: false, isLong: (ms) => ms > maxGroupMs, clock })
  return {
    dialect: 'postgres',
    durability: options.durability,
    exclusive: false,
    read: db,
    async readApart<Row>(statement: string, values: readonly unknown[]) {
      return sendNamed<Row>(await apart.client(), statement, [...values])
    },
    // With the durability `full`, PostgreSQL syncs a commit before its rows can be read.
    async durable() {},
    write: (work, lane = '', limits = {}) =>
      transact((transaction) => transaction.run(work), lane, { limits }),
    writeShort: (work, lane) => groups.write(work, lane),
    writeCombined: (combined, item, lane) => groups.writeCombined(combined, item, lane),
    async tryLock(db, name) {
      const { rows } = await sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`.execute(db)
      return rows[0]?.taken === true
    },
    // A row and not an advisory lock: a transaction that waited for the row collides and runs again, so it reads what the
    // holder wrote. After an advisory lock it would still read from its older snapshot.
    async lock(db, name) {
      const taken_at = clock.now()
      await db
        .insertInto('locks')
        .values({ name, taken: 1, taken_at })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ taken: sql`locks.taken + 1`, taken_at }),
        )
        .execute()
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    isDiskFull: () => disk.isFull,
    async size() {
      const { rows } = await sql<{ bytes: number }>`
        select pg_database_size(current_database()) as bytes`.execute(db)
      return { data: rows[0]?.bytes ?? 0 }
    },
    async emptyLog() {},
    async close() {
      await pipeline.close()
      await apart.close()
      await db.destroy()
      // Kysely ends the pool only if it has sent a query.
      if (!pool.ending) await pool.end()
    },
  }
}

const connectionDefaults: pg.ClientConfig = {
  connectionTimeoutMillis: 5000,
  keepAlive: true,
}

function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  // A connection that breaks while it is idle or checked out is replaced. Without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Not `pool.query`: that passes a callback to the client, whose timeout then does not apply. */
async function readAlone<Row>(pool: pg.Pool, sql: string, values: unknown[]): Promise<Row[]> {
  const client = await pool.connect()
  try {
    return await sendNamed<Row>(client, sql, values)
  } finally {
    client.release()
  }
}

type Consumer<T> = (connection: PostgresConnection) => Promise<T>

/** Runs a transaction. A connection whose state is unknown afterwards is closed. */
async function runOnce<T>(
  pool: pg.Pool,
  disk: FullDisk,
  observer: DatabaseObserver | undefined,
  limits: TransactionLimits,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  const connection = new PostgresConnection(client, observer)
  let isClean = false
  try {
    await connection.begin(limits)
    const result = await work(connection)
    await connection.commit()
    isClean = true
    return result
  } catch (error) {
    disk.onFailed(error)
    isClean = await connection.rollback().then(
      () => true,
      () => false,
    )
    throw error
  } finally {
    client.release(!isClean)
  }
}

/** Repeats the work while it collides with other transactions, up to attempt `attemptLimit`. The caller has made the first. */
async function retry<T>(work: () => Promise<T>, clock: Clock, attemptLimit: number): Promise<T> {
  for (let attempt = 2; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isCollision(error) || attempt === attemptLimit) throw error
      const pauseMs = Math.random() * Math.min(maxRetryPauseMs, 2 ** attempt)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, pauseMs))
    }
  }
}
