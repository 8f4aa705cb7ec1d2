import { sql } from 'kysely'
import type { Database, Db } from './engine/db.ts'
import { deleteSome } from './engine/some-rows.ts'

/** A change that the open sessions of other servers must know of. */
export interface StoredSignal {
  apiKey: string
  signalId: string
  /** JSON. */
  message: string
}

/** Which transactions a reader has seen: a snapshot of PostgreSQL, as text. */
export type SignalPosition = string

/** A server that has read none for this long does not read them any more. */
export const retentionMs = 60 * 60 * 1000
/** More signals at a time are not read. */
const maxRead = 5_000

/** Stores the signals with the transaction. `serverId` is the server that makes the change. */
export async function add(
  db: Db,
  signals: readonly StoredSignal[],
  serverId: string,
  now: number,
): Promise<void> {
  if (signals.length === 0) return
  await db
    .insertInto('signals')
    .values(
      signals.map(({ apiKey, signalId, message }) => ({
        api_key: apiKey,
        signal_id: signalId,
        server_id: serverId,
        transaction_id: sql<number>`pg_current_xact_id()::text::bigint`,
        message,
        created_at: now,
      })),
    )
    .execute()
}

/**
 * The current snapshot, in each row, and the signals that were committed after the earlier snapshot. A transaction may get its
 * id early and commit late, so an id alone would not be a position.
 *
 * A snapshot does not show the transactions from its xmax on, and those that were in progress, which it lists. Each half of the
 * query is a condition of the index. The oldest transaction in progress would be a simpler lower bound, but one that writes
 * for an hour, in any database of the cluster, would make every read visit all signals of that hour.
 */
const selectAfter = `
  select reader.snapshot, signals.api_key as "apiKey", signals.signal_id as "signalId", signals.message
  from (select pg_current_snapshot()::text as snapshot) as reader
  left join lateral (
    select transaction_id, api_key, signal_id, message from signals
    where transaction_id >= pg_snapshot_xmax($1::pg_snapshot)::text::bigint
    union all
    select transaction_id, api_key, signal_id, message from signals
    where transaction_id = any(array(select id::text::bigint from pg_snapshot_xip($1::pg_snapshot) as id))
    order by transaction_id limit ${maxRead + 1}
  ) as signals on true`

type Row = { snapshot: string } & (StoredSignal | { [K in keyof StoredSignal]: null })

/**
 * Returns the signals that were committed after `position`, and the position after them. `tooMany`: there are more than can be
 * read at a time. Without a position, it returns only the position of now. PostgreSQL only.
 */
export async function readAfter(
  { readApart }: Pick<Database, 'readApart'>,
  position: SignalPosition | undefined,
): Promise<{ position: SignalPosition; signals: StoredSignal[] | 'tooMany' }> {
  if (position === undefined) {
    const rows = await readApart<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot', [])
    return { position: rows[0]?.snapshot as string, signals: [] }
  }
  const rows = await readApart<Row>(selectAfter, [position])
  const signals = rows.filter((row): row is Row & StoredSignal => row.apiKey !== null)
  return {
    position: rows[0]?.snapshot as string,
    signals: signals.length > maxRead ? 'tooMany' : signals,
  }
}

/** Removes old signals of every tenant, at most `maxRows`. Returns their number. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(db, 'signals', sql`created_at <= ${now - retentionMs}`, maxRows)
