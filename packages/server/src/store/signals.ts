import { sql } from 'kysely'
import type { Db } from './engine/db.ts'
import { prepared } from './engine/prepared.ts'

/** A change that the open sessions of other servers must know of. */
export interface StoredSignal {
  apiKey: string
  /** The server that made the change. */
  serverId: string
  /** JSON. */
  message: string
}

/** Which transactions a reader has seen: a snapshot of PostgreSQL, as text. */
export type SignalPosition = string

/** A server that has read none for this long does not read them any more. */
export const retentionMs = 60 * 60 * 1000
/** More signals at a time are not read. */
const maxRead = 5_000

/** Stores the signals with the transaction. `newId` returns an id for each. */
export async function add(
  db: Db,
  signals: readonly StoredSignal[],
  newId: () => string,
  now: number,
): Promise<void> {
  if (signals.length === 0) return
  await db
    .insertInto('signals')
    .values(
      signals.map(({ apiKey, serverId, message }) => ({
        api_key: apiKey,
        signal_id: newId(),
        server_id: serverId,
        transaction_id: sql<number>`pg_current_xact_id()::text::bigint`,
        message,
        created_at: now,
      })),
    )
    .execute()
}

const seen = (position: string) => sql`${position}::pg_snapshot`

/**
 * The current snapshot, in each row, and the signals that were committed after the earlier snapshot. A transaction may get its
 * id early and commit late, so an id alone would not be a position.
 */
const selectAfter = prepared(
  (db, { position, limit }: { position: string; limit: number }) =>
    db
      .selectFrom(sql<{ snapshot: string }>`(select pg_current_snapshot()::text as snapshot)`.as('reader'))
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom('signals')
            .select(['api_key', 'server_id', 'message', 'transaction_id'])
            .where(sql<boolean>`transaction_id >= pg_snapshot_xmin(${seen(position)})::text::bigint`)
            .where(sql<boolean>`not pg_visible_in_snapshot(transaction_id::text::xid8, ${seen(position)})`)
            .orderBy('transaction_id')
            .limit(limit)
            .as('signals'),
        (join) => join.onTrue(),
      )
      .select(['reader.snapshot', 'signals.api_key', 'signals.server_id', 'signals.message']),
  { isSmallRead: true },
)

/**
 * Returns the signals that were committed after `position`, and the position after them. `tooMany`: there are more than can be
 * read at a time. Without a position, it returns only the position of now. PostgreSQL only.
 */
export async function readAfter(
  db: Db,
  position: SignalPosition | undefined,
): Promise<{ position: SignalPosition; signals: StoredSignal[] | 'tooMany' }> {
  if (position === undefined) {
    const { rows } = await sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`.execute(
      db,
    )
    return { position: rows[0]?.snapshot as string, signals: [] }
  }
  const rows = await selectAfter(db, { position, limit: maxRead + 1 })
  const signals = rows.flatMap(({ api_key: apiKey, server_id: serverId, message }) =>
    apiKey === null || serverId === null || message === null ? [] : { apiKey, serverId, message },
  )
  return {
    position: rows[0]?.snapshot as string,
    signals: signals.length > maxRead ? 'tooMany' : signals,
  }
}

/** Removes old signals of every tenant, at most `maxRows`. Returns their number. */
export async function prune(db: Db, now: number, maxRows: number): Promise<number> {
  const key = ['api_key', 'signal_id'] as const
  const { numDeletedRows } = await db
    .deleteFrom('signals')
    .where((eb) =>
      eb(
        eb.refTuple(...key),
        'in',
        eb
          .selectFrom('signals')
          .select(key)
          .where('created_at', '<=', now - retentionMs)
          .limit(maxRows)
          .$asTuple(...key),
      ),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
