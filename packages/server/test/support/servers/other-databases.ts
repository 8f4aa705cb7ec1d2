import { sql } from 'kysely'
import type { Database } from '../../../src/store/engine/db.ts'
import { eventually } from '../clients/convergence.ts'

interface Transaction {
  pid: number
  xid: string
}

/**
 * On PostgreSQL, an event can be read when all transactions that began before it have ended, also those of other databases of
 * the same PostgreSQL server, such as the databases of tests in other processes. Waits until these have ended.
 */
export async function transactionsOfOthersEnded({ dialect, read }: Database): Promise<void> {
  if (dialect !== 'postgres') return
  const listOpen = async () => {
    const open = await sql<Transaction>`select pid, backend_xid::text as xid from pg_stat_activity
      where backend_xid is not null and datname <> current_database()`.execute(read)
    return new Set(open.rows.map(({ pid, xid }) => `${pid} ${xid}`))
  }
  const before = await listOpen()
  if (before.size === 0) return
  await eventually(async () => [...(await listOpen())].filter((one) => before.has(one))).toEqual([])
}

/** Sends requests with `send`, and those that read events after the transactions of other databases. */
export const afterOthers =
  (database: Database, send: typeof fetch): typeof fetch =>
  async (url, init) => {
    if (String(url).endsWith('/events/get')) await transactionsOfOthersEnded(database)
    return send(url, init)
  }
