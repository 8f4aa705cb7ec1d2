import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Database, DatabaseOptions } from './db.ts'
import { isCollision, isUnavailable, OpenError } from './failures.ts'
import { migrate } from './migrations/index.ts'
import type { Schema } from './schema.ts'
import { Turns } from './turns.ts'

// Counts and times arrive as numbers; all of ours are below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Transactions that met run again; ten times in a row means that something else is wrong. */
const attempts = 10

/**
 * Transactions are `repeatable read`: a handler may read, decide and write, and if anybody changed those rows meanwhile
 * PostgreSQL says so and the handler runs again. Handlers therefore have no effect outside their transaction.
 */
export async function openPostgres(options: DatabaseOptions & { url: string }): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // A server that froze or lost its network in the middle of a transaction keeps its locks no longer than this.
    idle_in_transaction_session_timeout: 60_000,
    application_name: 'plenum',
    options: `-c synchronous_commit=${options.durability === 'full' ? 'on' : 'off'}`,
  })
  // A connection that breaks while idle or while checked out is replaced; without listeners it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => options.observe?.(event.queryDurationMillis / 1000),
  })
  try {
    await migrate(db as unknown as Kysely<unknown>, 'postgres')
  } catch (error) {
    await db.destroy()
    throw cannotOpen(error) ?? error
  }

  const again = new Turns()
  return {
    dialect: 'postgres',
    durability: options.durability,
    exclusive: false,
    read: db,
    // A commit is synced before anybody sees it.
    async durable() {},
    async write(work) {
      const run = (on: Kysely<Schema>) => on.transaction().setIsolationLevel('repeatable read').execute(work)
      try {
        return await run(db)
      } catch (error) {
        if (!isCollision(error)) throw error
      }
      // Whoever collided goes on one at a time, first within this server, so that those who wait hold no connection.
      return again.take(() => db.connection().execute((one) => oneAtATime(one, () => retry(() => run(one)))))
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
    async close() {
      await db.destroy()
    },
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
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt))
    }
  }
}

/** Held by the session and taken before the transaction begins, so that its snapshot shows what the holder before did. */
async function oneAtATime<T>(db: Kysely<Schema>, work: () => Promise<T>): Promise<T> {
  await sql`select pg_advisory_lock(hashtextextended('plenum collisions', 0))`.execute(db)
  try {
    return await work()
  } finally {
    await sql`select pg_advisory_unlock(hashtextextended('plenum collisions', 0))`.execute(db)
  }
}
