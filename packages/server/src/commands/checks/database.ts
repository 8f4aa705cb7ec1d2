import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadSecrets } from '../../access/credentials/secrets.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../store/engine/db.ts'
import { openSqliteBeside, type SharedDatabase } from '../../store/engine/sqlite-beside.ts'
import { cannotOpen } from '../../store/engine/failures.ts'
import { openDatabase } from '../../store/engine/open.ts'
import { LostStatementsError } from '../../store/engine/poolers.ts'
import { migrations } from '../../store/migrations/index.ts'
import { schemaState } from '../../store/migrations/migrate.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { requireMatchingSecret } from '../database.ts'
import { reasonFor } from '../failure.ts'
import { type Finding, failed, ok, warning } from './check.ts'

/** The oldest version that has the functions for the order of the event log. */
const minPostgres = 130_000
/** Two clocks that differ by more make tokens and times of different servers contradict each other. */
const maxClockDifferenceMs = 1000

export async function checkDatabase(config: Config): Promise<Finding[]> {
  let database: SharedDatabase | undefined
  try {
    if (config.databaseUrl === undefined) {
      if (!existsSync(join(config.dataDir, 'plenum.db'))) {
        return [ok('database', 'there is none yet; the first start creates it')]
      }
      database = openSqliteBeside(config.dataDir)
    } else {
      database = await openDatabase({ ...config, url: config.databaseUrl, poolSize: 1, keepsSchema: true })
    }
    const { read } = database
    return [
      ...(config.databaseUrl === undefined ? await checkSqlite(read) : await checkPostgres(read, config)),
      ...(await checkContent(read, config)),
    ]
  } catch (error) {
    if (error instanceof LostStatementsError)
      return [failed('database', LostStatementsError.problem, LostStatementsError.advice)]
    const known = cannotOpen(error)?.message ?? (error as Error).message
    return [failed('database', known, 'Check DATABASE_URL or DATA_DIR, and that the database runs.')]
  } finally {
    await database?.close()
  }
}

async function checkSqlite(db: Db): Promise<Finding[]> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db)
  const answer = rows[0]?.quick_check
  if (answer === 'ok') return [ok('database', 'SQLite, the structure of the file is intact')]
  return [failed('database', `the file is damaged: ${answer}`, 'Restore a backup with: plenum restore')]
}

interface PostgresState {
  version: number
  name: string
  fsync: string
  full_page_writes: string
  synchronous_commit: string
  encoding: string
  max_connections: number
  is_standby: boolean
  now_ms: number
}

async function checkPostgres(db: Db, { databasePoolSize, durability, redisUrl }: Config): Promise<Finding[]> {
  const before = Date.now()
  const { rows } = await sql<PostgresState>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('server_encoding') as encoding, current_setting('max_connections')::int as max_connections,
      pg_is_in_recovery() as is_standby, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(
    db,
  )
  const after = Date.now()
  const [found] = rows
  if (!found) return [failed('database', 'PostgreSQL gave no answer', 'Check DATABASE_URL.')]
  const findings: Finding[] = []
  if (found.version < minPostgres) {
    findings.push(failed('database', `PostgreSQL ${found.name} is too old`, 'Use PostgreSQL 13 or newer.'))
  } else findings.push(ok('database', `PostgreSQL ${found.name} answers in ${after - before} ms`))
  if (found.is_standby) {
    findings.push(failed('database', 'the server is a standby, which refuses writes', 'Use the primary.'))
  }
  if (found.encoding !== 'UTF8') {
    findings.push(
      failed('database', `the encoding is ${found.encoding}`, 'Create the database with encoding UTF8.'),
    )
  }
  const unsafe = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter(
    (name) => found[name] === 'off',
  )
  if (unsafe.length > 0 && durability === 'full') {
    const message = `${unsafe.join(', ')} of PostgreSQL ${unsafe.length > 1 ? 'are' : 'is'} off`
    findings.push(warning('durability', message, 'A power failure may destroy data. Turn the setting on.'))
  }
  const connections = databasePoolSize + (redisUrl === undefined ? 4 : 2)
  if (connections > found.max_connections / 2) {
    findings.push(
      warning(
        'database',
        `one server opens ${connections} of the ${found.max_connections} connections of PostgreSQL`,
        'Raise max_connections, or lower DATABASE_POOL_SIZE, before you start several servers.',
      ),
    )
  }
  findings.push(checkClock(found.now_ms - (before + after) / 2, (after - before) / 2))
  return findings
}

/** `uncertaintyMs`: the answer of the database may be older or newer by this much. */
export function checkClock(differenceMs: number, uncertaintyMs: number): Finding {
  const difference = Math.max(0, Math.abs(differenceMs) - uncertaintyMs)
  const message = `differs from the clock of the database by ${Math.round(difference)} ms`
  if (difference < maxClockDifferenceMs) return ok('clock', message)
  return warning('clock', message, 'Let both machines take the time from the network (NTP).')
}

/** What is stored: the schema, the secret, and times that cannot be in the future. */
async function checkContent(db: Db, config: Config): Promise<Finding[]> {
  const schema = await checkSchema(db)
  if (schema.status !== 'ok') return [schema]
  return [schema, await checkSecret(db, config), ...(await checkTimes(db))]
}

async function checkSchema(db: Db): Promise<Finding> {
  const state = await schemaState(db, migrations)
  if (state === 'newer') {
    return failed('schema', 'a newer version of Plenum has upgraded the database', 'Use that version.')
  }
  if (state === 'current') return ok('schema', 'up to date')
  return warning(
    'schema',
    'not created or not up to date',
    'The next start of the server creates or upgrades it.',
  )
}

async function checkSecret(db: Db, { secretKey, dataDir }: Config): Promise<Finding> {
  try {
    await requireMatchingSecret(loadSecrets({ secretKey, dataDir }), db)
    return ok('secret', 'matches the database')
  } catch (error) {
    return failed('secret', String(reasonFor(error)), 'Without the right secret, the server does not start.')
  }
}

async function checkTimes(db: Db): Promise<Finding[]> {
  const newest = await signingKeys.newest(db)
  if (!newest || newest.createdAt <= Date.now() + maxClockDifferenceMs) return []
  const message = `the database has data from ${new Date(newest.createdAt).toISOString()}, which is in the future`
  return [failed('clock', message, 'Set the clock of this machine.')]
}
