import { hash } from 'node:crypto'
import type { ErrorStatus } from '@plenum/protocol'
import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import * as documents from './documents.ts'
import { JsonMembers } from './json-members.ts'
import { parse } from '../engine/json.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { prepared } from '../engine/prepared.ts'
import type { DocumentRef } from '../refs.ts'

/** A value that all clients of a document share, under a name that the caller chooses (spec 16.1). */
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

/** All live states of a document, by name. */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
): Promise<LiveState[]> {
  return (await inDocument(db, apiKey, organizationId, documentId).execute()).map(toLiveState)
}

/** A write to a live state. */
export interface Change {
  liveStateDataId: string
  /** A JSON object, as `JSON.stringify` writes it. */
  data: string
  /** Whether the keys are merged into the stored value, one level deep, instead of replacing it. */
  merge: boolean
  userId: string
  /** A large value that was merged before the transaction. Used only if `below` is still the stored value. */
  merged?: {
    below: string
    /** The result of the merge; undefined if it would be too large. */
    json: string | undefined
  }
}

/** Merging makes values grow: without a limit a value could become too large to send to a client. */
export const maxValueBytes = 1024 * 1024
/** All live states of a document together: a client that opens the document receives all of them. */
export const maxPerDocument = { states: 1_000, bytes: 16 * 1024 * 1024 }

/** Why a change was refused. */
export interface Refusal {
  status: ErrorStatus
  message: string
}
export const tooLarge: Refusal = {
  status: 'INVALID_ARGUMENT',
  message: 'Live state must not be larger than 1 MiB.',
}
export const documentFull: Refusal = {
  status: 'RESOURCE_EXHAUSTED',
  message:
    'A document has at most 1,000 live states and 16 MiB of them. Set one that exists to a smaller value.',
}

/** A call begins no further change after this many bytes: reading, merging and writing 1 MiB takes 20 ms on SQLite. */
const maxBytesPerCall = 1024 * 1024

export interface ChangeResult {
  /** Undefined if all changes were refused. */
  position: documents.Position | undefined
  refused: ReadonlyMap<Change, Refusal>
  /**
   * How many changes, from the first on, were stored or refused. The other changes are left for the next call, because
   * values are large.
   */
  count: number
  /** The stored value into which the caller must merge the first change that is left, before the next call. */
  mergeWith?: string
}

/**
 * Stores changes in their order, under one new number of the document. Callers pass at most 500 changes. Refuses changes
 * that would make a value, or all values of the document together, too large. Does not itself merge values of more than
 * `maxMergeBytes`. Returns undefined if the document does not exist.
 */
export async function set(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  changes: readonly Change[],
  now: number,
  maxMergeBytes = Infinity,
): Promise<ChangeResult | undefined> {
  const key = { api_key: apiKey, organization_id: organizationId, document_id: documentId }
  const { values, ...result } = await mergeChanges(db, key, changes, maxMergeBytes)
  const excess = await findExcess(db, key, values)
  for (const change of changes.slice(0, result.count)) {
    if (excess.has(change.liveStateDataId) && !result.refused.has(change))
      result.refused.set(change, documentFull)
  }
  for (const id of excess) values.delete(id)
  if (values.size === 0) return { ...result, position: undefined }

  const position = await documents.numberChange(db, apiKey, organizationId, documentId)
  if (!position) return undefined
  const rows = inLockOrder(values, ([id]) => id).map(([live_state_data_id, { members, userId }]) => ({
    ...key,
    live_state_data_id,
    data: String(members),
    user_id: userId,
    now,
    seq: position.seq,
  }))
  await put(db, rows)
  return { ...result, position }
}

/** The new values by name, and the other fields of the `ChangeResult`. */
interface MergeResult {
  values: Map<string, Value>
  refused: Map<Change, Refusal>
  count: number
  mergeWith?: string
}

/** Computes the new values. Stops at the limit of one call, or before a large value that the caller must merge. */
async function mergeChanges(
  db: Db,
  key: DocumentKey,
  changes: readonly Change[],
  maxMergeBytes: number,
): Promise<MergeResult> {
  const values = new Map<string, Value>()
  const refused = new Map<Change, Refusal>()
  let count = 0
  for (let bytes = 0; count < changes.length && bytes < maxBytesPerCall; count++) {
    const change = changes[count] as Change
    const { liveStateDataId: id, data, merge, merged, userId } = change
    const earlier = values.get(id)?.members
    const stored = async () => (await selectData(db, { ...key, live_state_data_id: id }))[0]?.data
    let members = merge ? (earlier ?? new JsonMembers(await stored())) : new JsonMembers()
    bytes += data.length + members.bytes
    let fits: boolean
    if (members.isEmpty || data.length + members.bytes <= maxMergeBytes) {
      fits = members.merge(data, maxValueBytes)
    } else {
      // The earlier changes of this value must be stored before the caller can merge.
      if (earlier) break
      const below = String(members)
      if (merged?.below !== below) return { values, refused, count, mergeWith: below }
      fits = merged.json !== undefined
      members = new JsonMembers(merged.json)
    }
    if (fits) values.set(id, { members, userId })
    else refused.set(change, tooLarge)
  }
  return { values, refused, count }
}

/**
 * The names of the values for which the document has no room. Concurrent changes of a document collide when they increment
 * its number, so the sizes that are read here are still true at the end of the transaction.
 */
async function findExcess(
  db: Db,
  key: DocumentKey,
  values: ReadonlyMap<string, Value>,
): Promise<ReadonlySet<string>> {
  const excess = new Set<string>()
  const [total] = await selectTotal(db, key)
  let [states, bytes] = [total?.states ?? 0, total?.bytes ?? 0]
  const fits = () => states <= maxPerDocument.states && bytes <= maxPerDocument.bytes
  const sent = [...values.values()].reduce((sum, { members }) => sum + members.bytes, 0)
  if (states + values.size <= maxPerDocument.states && bytes + sent <= maxPerDocument.bytes) return excess
  const sizes = await selectSizes(db, key)
  const before = new Map(sizes.map((row) => [row.live_state_data_id, row.bytes]))
  for (const [id, { members }] of values) {
    const known = before.get(id)
    const growth = members.bytes - (known ?? 0)
    if (known === undefined) states++
    bytes += growth
    // A value that does not grow is always accepted, so that a document can get back below its limits.
    if (fits() || (known !== undefined && growth <= 0)) continue
    excess.add(id)
    if (known === undefined) states--
    bytes -= growth
  }
  return excess
}

/** Neither database reads the values to compute their length. */
const bytesOfData = sql<number>`octet_length(data)`

const selectTotal = prepared((db, key: DocumentKey) =>
  db
    .selectFrom('live_states')
    .select((eb) => [
      eb.fn.countAll<number>().as('states'),
      sql<number | null>`sum(${bytesOfData})`.as('bytes'),
    ])
    .where((eb) => eb.and(key)),
)

const selectSizes = prepared((db, key: DocumentKey) =>
  db
    .selectFrom('live_states')
    .select(['live_state_data_id', bytesOfData.as('bytes')])
    .where((eb) => eb.and(key)),
)

/** The new value, and the user who sets it. */
interface Value {
  members: JsonMembers
  userId: string
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

type DocumentKey = { api_key: string; organization_id: string; document_id: string }
type Key = DocumentKey & { live_state_data_id: string }

const inDocument = (db: Db, apiKey: string, organizationId: string, documentId: string) =>
  db
    .selectFrom('live_states')
    .select(['live_state_data_id', 'data', 'updated_by', 'last_updated'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .orderBy('live_state_data_id')

type Row = Awaited<ReturnType<ReturnType<typeof inDocument>['execute']>>[number]

/** The id of a live state, derived from its name. */
export const idOf = (liveStateDataId: string) => hash('sha256', liveStateDataId, 'hex').slice(0, 32)

const toLiveState = (row: Row): LiveState => ({
  id: idOf(row.live_state_data_id),
  liveStateDataId: row.live_state_data_id,
  data: parse(row.data),
  lastUpdated: row.last_updated,
  updatedBy: { userId: row.updated_by },
})
