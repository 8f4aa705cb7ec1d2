import { type RawBuilder, sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import type { Appended, Entry } from './log-entry.ts'
import { type Key, keyOf } from './editors.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { movedAwaySeq } from '../documents/moved-away.ts'

const keyColumns = {
  api_key: 'text',
  organization_id: 'text',
  document_id: 'text',
  editor_id: 'text',
} as const
type KeyColumn = keyof typeof keyColumns

const keyNames = sql.join(Object.keys(keyColumns).map((column) => sql.ref(column)))
const keyValues = (row: Record<KeyColumn, RawBuilder<unknown>>) =>
  sql`${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.editor_id}`

interface NumberedUpdate {
  /** The index of the entry in the batch. */
  entry: number
  seq: number
  created_at: number
}

const isEditorOf = (row: Record<KeyColumn | 'created_at', RawBuilder<unknown>>) => sql`
  editors.api_key = ${row.api_key} and editors.organization_id = ${row.organization_id}
  and editors.document_id = ${row.document_id} and editors.editor_id = ${row.editor_id}
  and (${row.created_at} is null or editors.created_at = ${row.created_at})`

const advanceEditors = (whenLocked: RawBuilder<unknown>) =>
  batched<KeyColumn | 'entry' | 'user_id' | 'session_id' | 'created_at' | 'now', NumberedUpdate>(
    {
      ...keyColumns,
      entry: 'bigint',
      user_id: 'text',
      session_id: 'text',
      created_at: 'bigint',
      now: 'bigint',
    },
    // Two servers that append to the same editors lock their rows in the same order.
    ({ row, fromRows }) => sql`
      update editors
      set seq = editors.seq + 1, last_updated = ${row.now}, last_updated_by = ${row.user_id}, session_id = ${row.session_id}
      from (
        select r.* ${fromRows} join editors using (${keyNames}) order by ${keyNames}
        for no key update of editors ${whenLocked}) r
      where ${isEditorOf(row)}
      returning ${row.entry} as entry, editors.seq as seq, editors.created_at as created_at`,
  )

const advance = {
  wait: advanceEditors(sql``),
  skip: advanceEditors(sql`skip locked`),
}
/** What to do with rows that another transaction has locked: editors that it writes, and documents that it deletes. */
type WhenLocked = keyof typeof advance

const selectPresent = batched<KeyColumn | 'entry' | 'created_at', { entry: number }>(
  { ...keyColumns, entry: 'bigint', created_at: 'bigint' },
  ({ row, fromRows }) => sql`
    select ${row.entry} as entry ${fromRows}, editors
    where ${isEditorOf(row)}`,
)

const createEditors = (whenLocked: RawBuilder<unknown>) =>
  batched<
    KeyColumn | 'type' | 'content_key' | 'user_id' | 'session_id' | 'now',
    Key & { seq: number; created_at: number }
  >(
    {
      ...keyColumns,
      type: 'text',
      content_key: 'text',
      user_id: 'text',
      session_id: 'text',
      now: 'bigint',
    },
    ({ row, fromRows }) => sql`
      insert into editors (${keyNames}, type, content_key, seq, snapshot_seq, last_updated, last_updated_by, session_id, created_at)
      select ${keyValues(row)}, ${row.type}, ${row.content_key}, 1, 0, ${row.now}, ${row.user_id}, ${row.session_id}, ${row.now}
      ${fromRows}
      where exists (
        select 1 from documents where documents.api_key = ${row.api_key}
          and documents.organization_id = ${row.organization_id} and documents.document_id = ${row.document_id}
          and documents.event_seq > ${sql.lit(movedAwaySeq)}
        for key share ${whenLocked})
      on conflict do nothing
      returning ${keyNames}, seq, created_at`,
  )

const create = {
  wait: createEditors(sql``),
  skip: createEditors(sql`skip locked`),
}

const insertUpdates = batched<KeyColumn | 'seq' | 'bytes' | 'user_id' | 'now'>(
  { ...keyColumns, seq: 'bigint', bytes: 'bytea', user_id: 'text', now: 'bigint' },
  ({ row, fromRows }) => sql`
    insert into editor_updates (${keyNames}, seq, bytes, user_id, created_at)
    select ${keyValues(row)}, ${row.seq}, ${row.bytes}, ${row.user_id}, ${row.now} ${fromRows}`,
)

/** A larger update has its own statement: bytes in arrays are sent as text of twice their length. */
const maxBatchedUpdateBytes = 64 * 1024

const selectClaimed = batched<KeyColumn | 'entry' | 'client_id' | 'user_id', { entry: number }>(
  { ...keyColumns, entry: 'bigint', client_id: 'bigint', user_id: 'text' },
  ({ row, fromRows }) => sql`
    select ${row.entry} as entry ${fromRows}, editor_clients owned
    where owned.api_key = ${row.api_key} and owned.organization_id = ${row.organization_id}
      and owned.document_id = ${row.document_id} and owned.editor_id = ${row.editor_id}
      and owned.client_id = ${row.client_id} and owned.user_id <> ${row.user_id}`,
)

const insertOwners = batched<KeyColumn | 'client_id' | 'user_id'>(
  { ...keyColumns, client_id: 'bigint', user_id: 'text' },
  ({ row, fromRows }) => sql`
    insert into editor_clients (${keyNames}, client_id, user_id)
    select ${keyValues(row)}, ${row.client_id}, ${row.user_id} ${fromRows}
    on conflict do nothing`,
)

interface Pending {
  entry: Entry
  /** Identifies the editor in maps. */
  id: string
  row: Key & { user_id: string; session_id: string | null; now: number }
  appended: Appended | 'locked' | 'claimed' | undefined
}

/** Appends all entries with few statements, because every statement is a round trip to the database. */
export async function appendOnPostgres(
  db: Db,
  entries: readonly Entry[],
  now: number,
  whenLocked: WhenLocked,
): Promise<Pending['appended'][]> {
  const all = entries.map((entry): Pending => {
    const { apiKey, editor, writer } = entry
    const key = keyOf(apiKey, editor)
    return {
      entry,
      id: idOf(key),
      row: { ...key, user_id: writer.userId, session_id: writer.sessionId, now },
      appended: undefined,
    }
  })
  let waiting = all
  while (waiting.length > 0) {
    const round = new Map<string, Pending>()
    for (const one of waiting) if (!round.has(one.id)) round.set(one.id, one)
    await appendRound(db, round, whenLocked)
    waiting = waiting.filter((one) => round.get(one.id) !== one)
  }
  return all.map(({ appended }) => appended)
}

const idOf = (key: Key) => JSON.stringify([key.api_key, key.organization_id, key.document_id, key.editor_id])

/** Appends at most one update to each editor. */
async function appendRound(
  db: Db,
  round: ReadonlyMap<string, Pending>,
  whenLocked: WhenLocked,
): Promise<void> {
  const all = Array.from(round.values())
  await findClaimed(db, all)
  const ordered = inLockOrder(
    all.filter(({ appended }) => appended !== 'claimed'),
    ({ id }) => id,
  )
  await advanceExisting(db, ordered, whenLocked)
  await createMissing(db, round, ordered, whenLocked)
  await insertRows(db, ordered)
}

/**
 * Finds the entries with a Yjs client id that belongs to another user. The server that sent the entry did not know it yet. If a
 * transaction that begins later makes another user the owner, it also advances the editor, and this one collides with it.
 */
async function findClaimed(db: Db, all: readonly Pending[]): Promise<void> {
  const claims = all.flatMap(({ entry, row }, index) =>
    entry.owners.map(([clientId, userId]) => ({
      ...row,
      entry: index,
      client_id: clientId,
      user_id: userId,
    })),
  )
  if (claims.length === 0) return
  for (const { entry } of await selectClaimed(db, claims)) (all[entry] as Pending).appended = 'claimed'
}

/** Numbers the updates of editors that exist. */
async function advanceExisting(db: Db, ordered: readonly Pending[], whenLocked: WhenLocked): Promise<void> {
  const rows = ordered.map(({ entry, row }, index) => ({
    ...row,
    entry: index,
    created_at: entry.createdAt ?? null,
  }))
  for (const { entry, seq, created_at: createdAt } of await advance[whenLocked](db, rows)) {
    ;(ordered[entry] as Pending).appended = { seq, createdAt }
  }
  if (whenLocked === 'wait') return
  const left = rows.filter(({ entry }) => !ordered[entry]?.appended)
  for (const { entry } of await selectPresent(db, left)) (ordered[entry] as Pending).appended = 'locked'
}

/** Creates missing editors, whose first update has number 1. */
async function createMissing(
  db: Db,
  round: ReadonlyMap<string, Pending>,
  ordered: readonly Pending[],
  whenLocked: WhenLocked,
): Promise<void> {
  const missing = ordered.filter(({ entry, appended }) => !appended && entry.create !== null)
  const rows = missing.map(({ entry, row }) => ({
    ...row,
    type: entry.create?.type ?? null,
    content_key: entry.create?.contentKey ?? null,
  }))
  for (const { seq, created_at: createdAt, ...key } of await create[whenLocked](db, rows)) {
    ;(round.get(idOf(key)) as Pending).appended = { seq, createdAt }
  }
  if (whenLocked === 'wait') return
  // The document may be deleted instead of locked. A caller that waits for the lock finds out.
  for (const one of missing) one.appended ??= 'locked'
}

/** Inserts the numbered updates, and the owners of their Yjs client ids. */
async function insertRows(db: Db, ordered: readonly Pending[]): Promise<void> {
  const numbered = ordered.flatMap(({ entry, row, appended }) =>
    typeof appended === 'object' ? { entry, row, seq: appended.seq } : [],
  )
  const updates = numbered.map(({ entry, row, seq }) => ({ ...row, seq, bytes: entry.update }))
  await insertUpdates(
    db,
    updates.filter(({ bytes }) => bytes.length <= maxBatchedUpdateBytes),
  )
  for (const { session_id: _, now: created_at, ...update } of updates) {
    if (update.bytes.length <= maxBatchedUpdateBytes) continue
    await db
      .insertInto('editor_updates')
      .values({ ...update, created_at })
      .execute()
  }
  await insertOwners(
    db,
    numbered.flatMap(({ entry, row }) =>
      entry.owners.map(([clientId, userId]) => ({ ...row, client_id: clientId, user_id: userId })),
    ),
  )
}
