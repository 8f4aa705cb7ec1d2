import pg from 'pg'
import { OpenError } from './failures.ts'

/** A pooler such as PgBouncer gives transactions other connections than those on which their statements were prepared. */
export class LostStatementsError extends OpenError {
  static readonly problem = 'The pooler of DATABASE_URL loses prepared statements, so most writes would fail.'
  static readonly advice =
    'Use PgBouncer 1.21 or newer with max_prepared_statements = 200, or pool_mode = session, or connect without it.'

  constructor(options: ErrorOptions) {
    super(`${LostStatementsError.problem} ${LostStatementsError.advice}`, options)
  }
}

/** Enough for a pooler that gives the connections in turns. */
const rounds = 5

/**
 * Throws if a pooler is between this process and PostgreSQL, and does not keep prepared statements. Two clients then prepare
 * different statements under one name, as two servers would.
 */
export async function requirePreparedStatements(pool: pg.Pool): Promise<void> {
  const client = (await pool.connect()) as pg.PoolClient & { processID: number }
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // A pooler has told the client a process id of its own.
    if (rows[0]?.pid === client.processID) return
  } finally {
    client.release()
  }
  const clients = [1, 2].map((number) => ({ number, client: new pg.Client(pool.options) }))
  try {
    for (const { client } of clients) await client.connect()
    for (let round = 0; round < rounds; round++)
      for (const { number, client } of clients)
        await client.query({ name: 'plenum_probe', text: `select ${number} as number` })
  } catch (cause) {
    throw lostStatements.has((cause as pg.DatabaseError).code ?? '')
      ? new LostStatementsError({ cause })
      : cause
  } finally {
    for (const { client } of clients) await client.end()
  }
}

/** The codes of PostgreSQL for a prepared statement that exists already, or that does not exist. */
const lostStatements = new Set(['42P05', '26000'])
