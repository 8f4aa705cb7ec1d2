import type { Db } from './engine/db.ts'
import type { EventPosition } from './event-log.ts'

export interface StoredEventNames {
  /** The sealed secret. */
  secret: Uint8Array
  /** The newest event and transaction when positions began to be encrypted. Undefined: there was none. */
  lastPlain: EventPosition | undefined
}

/** There is one row. */
const namesId = 'current'

export async function find(db: Db): Promise<StoredEventNames | undefined> {
  const row = await db
    .selectFrom('event_names')
    .select(['secret', 'plain_transaction_id', 'plain_event_id'])
    .where('names_id', '=', namesId)
    .executeTakeFirst()
  if (!row?.secret) return undefined
  const { secret, plain_transaction_id: transactionId, plain_event_id: eventId } = row
  return {
    secret,
    lastPlain: transactionId === null || eventId === null ? undefined : { transactionId, eventId },
  }
}

/** Stores the secret, unless another server has stored one. */
export async function addSecret(db: Db, secret: Uint8Array): Promise<void> {
  await db
    .insertInto('event_names')
    .values({ names_id: namesId, secret, plain_transaction_id: null, plain_event_id: null })
    .onConflict((conflict) =>
      conflict.column('names_id').doUpdateSet({ secret }).where('event_names.secret', 'is', null),
    )
    .execute()
}
