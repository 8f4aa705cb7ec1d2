import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import * as documents from './documents.ts'
import { movedAwaySeq } from './moved-away.ts'
import { prepared } from '../engine/prepared.ts'
import type { DocumentRef } from '../refs.ts'

/** A live state as it is stored. */
export interface StoredLiveState {
  liveStateDataId: string
  /** JSON object. */
  json: string
  /** The number of the document's change that set this value. */
  seq: number
  userId: string
  lastUpdated: number
}

/** Larger values are read by separate statements. 1,000 values of this size take 2 ms. */
const maxSmallValueBytes = 1024
/** One statement reads at most this many bytes of larger values, unless a single value has more. */
const maxBytesPerStatement = 1024 * 1024
/** After this many attempts a value that keeps changing is returned as it was last read. */
const maxAttempts = 5

/**
 * Returns the newest change of the document, and the live states that were set after change `seq`. Returns undefined if the
 * document does not exist. Calls `pause` before each batch of large values.
 */
export async function readSince(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  seq: number,
  pause: () => Promise<void> = async () => {},
): Promise<{ position: documents.Position; states: StoredLiveState[] } | undefined> {
  const document = { apiKey, organizationId, documentId }
  const large = new Map<string, StoredLiveState>()
  for (let attempt = 1; ; attempt++) {
    // One statement reads both the position and the states: another change could happen between two statements.
    const rows = await selectSince(db, { ...document, seq })
    const [first] = rows
    if (!first) return undefined
    const changed = rows.flatMap(({ live_state_data_id: id, bytes, ...row }) =>
      id === null ? [] : { ...row, id, seq: row.seq as number, bytes: Number(bytes) },
    )
    const isRead = (row: { id: string; seq: number; data: string | null }) =>
      row.data !== null || large.get(row.id)?.seq === row.seq
    for (const ids of inBatches(changed.filter((row) => !isRead(row)))) {
      await pause()
      for (const row of await selectMany(db, document, ids)) large.set(row.live_state_data_id, toStored(row))
    }
    if (!changed.every(isRead) && attempt < maxAttempts) continue
    const states = changed.flatMap(({ id, data, ...row }) =>
      data === null ? (large.get(id) ?? []) : toStored({ ...row, data, live_state_data_id: id }),
    )
    return { position: documents.positionOf(db, first), states }
  }
}

/** The ids of values, in batches that one statement reads. */
function* inBatches(values: readonly { id: string; bytes: number }[]): Generator<string[]> {
  let ids: string[] = []
  let sum = 0
  for (const { id, bytes } of values) {
    if (ids.length > 0 && sum + bytes > maxBytesPerStatement) {
      yield ids
      ids = []
      sum = 0
    }
    ids.push(id)
    sum += bytes
  }
  if (ids.length > 0) yield ids
}

interface Row {
  live_state_data_id: string
  data: string
  seq: number
  updated_by: string | null
  last_updated: number | null
}

const toStored = (row: Row): StoredLiveState => ({
  liveStateDataId: row.live_state_data_id,
  json: row.data,
  seq: row.seq,
  userId: row.updated_by as string,
  lastUpdated: row.last_updated as number,
})

// A type and not an interface, so that it fits the values of a prepared query.
type Document = Pick<DocumentRef, keyof DocumentRef> & { apiKey: string }

const bytesOfData = sql<number | null>`octet_length(live_states.data)`
const smallData = sql<
  string | null
>`case when ${bytesOfData} <= ${sql.lit(maxSmallValueBytes)} then live_states.data end`

const selectSince = prepared((db, of: Document & { seq: number }) =>
  db
    .selectFrom('documents')
    .leftJoin('live_states', (join) =>
      join
        .onRef('live_states.api_key', '=', 'documents.api_key')
        .onRef('live_states.organization_id', '=', 'documents.organization_id')
        .onRef('live_states.document_id', '=', 'documents.document_id')
        .on('live_states.seq', '>', of.seq),
    )
    .select(['documents.created_at', 'documents.event_seq'])
    .select(['live_states.live_state_data_id', 'live_states.seq'])
    .select([bytesOfData.as('bytes'), smallData.as('data')])
    .select(['live_states.updated_by', 'live_states.last_updated'])
    .where('documents.api_key', '=', of.apiKey)
    .where('documents.organization_id', '=', of.organizationId)
    .where('documents.document_id', '=', of.documentId)
    .where('documents.event_seq', '>', movedAwaySeq)
    .orderBy('live_states.live_state_data_id'),
)

const selectMany = (db: Db, { apiKey, organizationId, documentId }: Document, ids: readonly string[]) =>
  db
    .selectFrom('live_states')
    .select(['live_state_data_id', 'data', 'seq', 'updated_by', 'last_updated'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('live_state_data_id', 'in', ids)
    .execute()
