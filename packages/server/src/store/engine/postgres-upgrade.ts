import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import type { Clock } from '../../platform/clock.ts'
import { version } from '../../start/version.ts'
import { createMigrator, findPending } from '../migrations/migrate.ts'
import type { Migration, Migrations } from '../migrations/migration.ts'
import { isCollision, isLockTimeout, OpenError } from './failures.ts'

interface UpgradeOptions {
  /** Opens the connections of the upgrade. */
  openPool: (config: pg.PoolConfig) => pg.Pool
  migrations: Migrations
  clock: Clock
  onWait: (about: object, message: string) => void
}

/**
 * A change of a table waits for all transactions that use it, and everybody else waits behind it. So it gives up after this
 * time, lets the others go on, and tries again.
 */
const lockTimeoutMs = 200
const retryMs = 1_000
/** About two minutes. */
const maxAttempts = 100
const lockPollMs = 50

/** The name of the connections of an upgrade in PostgreSQL. */
const upgradeName = 'plenum-upgrade'

const numberOf = (migration: string) => Number.parseInt(migration, 10)

/** The name of a server's connections in PostgreSQL: its version, and the newest migration that it knows. */
export const applicationName = (migrations: Migrations): string =>
  `plenum ${version} schema ${numberOf(Object.keys(migrations).at(-1) ?? '0')}`

/**
 * Upgrades the schema and then runs `open`, which connects the server. Both under a lock: servers that start at the same time
 * wait for each other, and an upgrade sees all servers that have started.
 */
export async function withUpgrade<T>(options: UpgradeOptions, open: () => Promise<T>): Promise<T> {
  const pool = options.openPool({ max: 3, application_name: upgradeName })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    // The lock ends with the transaction: a lock of the session would outlive it in a pooler such as PgBouncer.
    return await db.transaction().execute(async (holder) => {
      await takeLock(holder, options)
      await upgrade(db, options)
      return open()
    })
  } finally {
    await db.destroy()
  }
}

/** Does not wait inside a statement: an index that is created concurrently would wait for that statement. */
async function takeLock(holder: Kysely<unknown>, { clock, onWait }: UpgradeOptions): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(holder)
  for (let attempt = 1; ; attempt++) {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('plenum schema', 0)) as taken`.execute(holder)
    if (rows[0]?.taken) return
    if (attempt === 100) onWait({}, 'waiting for another server that starts and may be upgrading the schema')
    await pause(clock, lockPollMs)
  }
}

async function upgrade(db: Kysely<unknown>, options: UpgradeOptions): Promise<void> {
  const { migrations } = options
  const { pending, isEmpty } = await findPending(db, migrations)
  if (isEmpty) return throwIfFailed(await createMigrator(db, 'postgres', migrations).migrateToLatest())
  const breaking = pending.findLast((name) => migrations[name]?.isCompatible === false)
  if (breaking !== undefined) await assertNoOlderServer(db, breaking)
  const migrator = createMigrator(db, 'postgres', withLockTimeout(migrations))
  for (const name of pending) {
    // Creating an index concurrently waits for other transactions, but nobody waits behind it.
    await migrations[name]?.prepare?.(db)
    await retry(db, name, options, async () => throwIfFailed(await migrator.migrateUp()))
  }
}

/** The timeout is set in the transaction: a pooler such as PgBouncer keeps no settings of a session. */
const withLockTimeout = (migrations: Migrations): Migrations =>
  Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => [
      name,
      {
        ...migration,
        async up(db, types) {
          await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db)
          await migration.up(db, types)
        },
      } satisfies Migration,
    ]),
  )

function throwIfFailed({ error }: { error?: unknown }): void {
  if (error) throw error
}

/** Repeats a migration that had to wait for a lock. It has changed nothing then. */
async function retry(
  db: Kysely<unknown>,
  migration: string,
  { clock, onWait }: UpgradeOptions,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error) && !isCollision(error)) throw error
      const transactions = await findTransactions(db)
      if (attempt === maxAttempts) {
        const found = transactions.map(
          ({ application, seconds }) => `${application || 'unnamed'} (${seconds} s)`,
        )
        throw new OpenError(
          `The migration ${migration} needs a lock that other transactions hold. The oldest are of: ${found.join(', ')}. End them and start again.`,
          { cause: error },
        )
      }
      onWait({ migration, attempt, transactions }, 'the upgrade of the schema waits for other transactions')
      await pause(clock, retryMs)
    }
  }
}

/** The oldest transactions of the database. Their statements are left out: they may contain data. */
async function findTransactions(db: Kysely<unknown>) {
  const { rows } = await sql<{ pid: number; application: string; state: string; seconds: number }>`
    select pid, application_name as application, state, extract(epoch from now() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database() and xact_start is not null
      and application_name <> ${upgradeName}
    order by xact_start limit 3`.execute(db)
  return rows
}

async function assertNoOlderServer(db: Kysely<unknown>, migration: string): Promise<void> {
  const { rows } = await sql<{ name: string; address: string | null }>`
    select distinct application_name as name, host(client_addr) as address from pg_stat_activity
    where datname = current_database() and application_name ~ '^plenum( |$)'`.execute(db)
  const older = rows.filter(({ name }) => Number(/ schema (\d+)$/.exec(name)?.[1] ?? 0) < numberOf(migration))
  if (older.length === 0) return
  const found = older.map(({ name, address }) => (address ? `${name} at ${address}` : name))
  throw new OpenError(
    `The upgrade ${migration} changes the schema so that running servers of older versions would fail. Stop them first: ${found.join(', ')}.`,
  )
}

const pause = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
