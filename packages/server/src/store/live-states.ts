import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { batched } from './batched.ts'
import type { Db } from './db.ts'
import * as documents from './documents.ts'
import { JsonMembers } from './json-members.ts'
import { parse } from './json.ts'
import { inLockOrder } from './lock-order.ts'
import { prepared } from './prepared.ts'

/** A value that everyone in a document shares, under a name of the caller's (spec 16.1). */
export interface LiveState {
  id: string
  liveStateDataId: string
  data: Record<string, unknown>
  lastUpdated: number
  updatedBy: { userId: string }
}

export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  liveStateDataId: string,
): Promise<LiveState | undefined> {
  const row = await inDocument(db, apiKey, organizationId, documentId)
    .where('live_state_data_id', '=', liveStateDataId)
    .executeTakeFirst()
  return row && toLiveState(row)
}

/** All of a document, by name. */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
): Promise<LiveState[]> {
  return (await inDocument(db, apiKey, organizationId, documentId).execute()).map(toLiveState)
}

/** What a live state is to become. */
export interface Change {
  liveStateDataId: string
  data: Record<string, unknown>
  /** Lays the keys over the stored value instead of replacing it; one level deep. */
  merge: boolean
  userId: string
}

/** Merging adds up: without a bound a value would grow past what a client can be sent. */
const mostBytes = 1024 * 1024
const longMs = 10
export const tooLarge = 'Live state must not be larger than 1 MiB.'

/**
 * Makes these changes one after the other, as one change of the document; at most 500. Those that would make a value too
 * large are refused, and with nothing left to do there is no position. Undefined if the document is gone.
 */
export async function set(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: Place,
  changes: readonly Change[],
  now: number,
): Promise<{ position: documents.Position | undefined; refused: ReadonlySet<Change> } | undefined> {
  const key = { api_key: apiKey, organization_id: organizationId, document_id: documentId }
  const refused = new Set<Change>()
  const values = new Map<string, Value>()
  let pausedAt = performance.now()
  for (const change of changes) {
    // A large value takes milliseconds, and SQLite does not leave the event loop.
    if (performance.now() - pausedAt > longMs) {
      await setImmediate()
      pausedAt = performance.now()
    }
    const { liveStateDataId, data, merge, userId } = change
    let value = values.get(liveStateDataId)
    if (!value) {
      const [row] = merge ? await selectData(db, { ...key, live_state_data_id: liveStateDataId }) : []
      value = { members: new JsonMembers(row && parse<Record<string, unknown>>(row.data)), userId: undefined }
      values.set(liveStateDataId, value)
    }
    const members = merge ? value.members : new JsonMembers()
    if (members.lay(data, mostBytes)) values.set(liveStateDataId, { members, userId })
    else refused.add(change)
  }
  const rows = inLockOrder(values, ([id]) => id).flatMap(([live_state_data_id, { members, userId }]) =>
    userId === undefined ? [] : { ...key, live_state_data_id, data: String(members), user_id: userId, now },
  )
  if (rows.length === 0) return { position: undefined, refused }
  const position = await documents.countChange(db, apiKey, organizationId, documentId)
  if (!position) return undefined
  await put(
    db,
    rows.map((row) => ({ ...row, seq: position.seq })),
  )
  return { position, refused }
}

interface Value {
  members: JsonMembers
  /** Who has changed it, if anybody has. */
  userId: string | undefined
}

const selectData = prepared((db, key: Key) =>
  db
    .selectFrom('live_states')
    .select('data')
    .where((eb) => eb.and(key)),
)

const put = batched<keyof Key | 'data' | 'seq' | 'user_id' | 'now'>(
  {
    api_key: 'text',
    organization_id: 'text',
    document_id: 'text',
    live_state_data_id: 'text',
    data: 'text',
    seq: 'bigint',
    user_id: 'text',
    now: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into live_states (api_key, organization_id, document_id, live_state_data_id, data, seq, updated_by, last_updated)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.live_state_data_id},
      ${row.data}, ${row.seq}, ${row.user_id}, ${row.now} ${fromRows}
    where true
    on conflict (api_key, organization_id, document_id, live_state_data_id) do update
      set data = excluded.data, seq = excluded.seq, updated_by = excluded.updated_by, last_updated = excluded.last_updated`,
)

/** A live state as it is stored. */
export interface Stored {
  liveStateDataId: string
  /** JSON object. */
  json: string
  /** The change of the document that set it. */
  seq: number
  userId: string
  lastUpdated: number
}

/**
 * Where the document is in its changes, and the live states that changes after that one have set; undefined if it is
 * gone. One statement: between two, another change could be made.
 */
export async function readSince(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: Place,
  seq: number,
): Promise<{ position: documents.Position; states: Stored[] } | undefined> {
  const rows = await selectSince(db, { apiKey, organizationId, documentId, seq })
  const [document] = rows
  if (!document) return undefined
  const states = rows.flatMap((row) =>
    row.live_state_data_id === null
      ? []
      : {
          liveStateDataId: row.live_state_data_id,
          json: row.data as string,
          seq: row.seq as number,
          userId: row.updated_by as string,
          lastUpdated: row.last_updated as number,
        },
  )
  return { position: documents.positionOf(document), states }
}

type Since = { apiKey: string; organizationId: string; documentId: string; seq: number }

const selectSince = prepared((db, place: Since) =>
  db
    .selectFrom('documents')
    .leftJoin('live_states', (join) =>
      join
        .onRef('live_states.api_key', '=', 'documents.api_key')
        .onRef('live_states.organization_id', '=', 'documents.organization_id')
        .onRef('live_states.document_id', '=', 'documents.document_id')
        .on('live_states.seq', '>', place.seq),
    )
    .select(['documents.created_at', 'documents.event_seq'])
    .select(['live_states.live_state_data_id', 'live_states.data', 'live_states.seq'])
    .select(['live_states.updated_by', 'live_states.last_updated'])
    .where('documents.api_key', '=', place.apiKey)
    .where('documents.organization_id', '=', place.organizationId)
    .where('documents.document_id', '=', place.documentId)
    .orderBy('live_states.live_state_data_id'),
)

interface Place {
  organizationId: string
  documentId: string
}

type Key = { api_key: string; organization_id: string; document_id: string; live_state_data_id: string }

const inDocument = (db: Db, apiKey: string, organizationId: string, documentId: string) =>
  db
    .selectFrom('live_states')
    .select(['live_state_data_id', 'data', 'updated_by', 'last_updated'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .orderBy('live_state_data_id')

type Row = Awaited<ReturnType<ReturnType<typeof inDocument>['execute']>>[number]

/** The id that a live state has beside its name. */
export const idOf = (liveStateDataId: string) => hash('sha256', liveStateDataId, 'hex').slice(0, 32)

const toLiveState = (row: Row): LiveState => ({
  id: idOf(row.live_state_data_id),
  liveStateDataId: row.live_state_data_id,
  data: parse(row.data),
  lastUpdated: row.last_updated,
  updatedBy: { userId: row.updated_by },
})
