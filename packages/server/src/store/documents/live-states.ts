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
import { type DocumentRef, tenantDocumentKey } from '../refs.ts'

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
  /**
   * Nothing was stored, because another transaction has locked the document, or because it does not exist. A call without
   * `skipLocked` waits for that transaction, and then knows.
   */
  isLocked?: boolean
}

/** The changes of one document. */
export interface DocumentChanges {
  apiKey: string
  document: DocumentRef
  /** At most 500. */
  changes: readonly Change[]
}

interface SetOptions {
  /**
   * A merge of more bytes than this is not done here: `mergeWith` then has the stored value, and the caller merges. Default:
   * no limit.
   */
  maxMergeBytes?: number
  /** Whether no further document should be begun. Default: never. */
  isLate?: () => boolean
  /** Whether not to wait for documents that another transaction has locked. Default: it waits. See `isLocked`. */
  skipLocked?: boolean
}

/** As `setAll`, for one document. */
export async function set(
  db: Db,
  apiKey: string,
  document: DocumentRef,
  changes: readonly Change[],
  now: number,
): Promise<ChangeResult | undefined> {
  return (await setAll(db, [{ apiKey, document, changes }], now))[0]
}

/**
 * Stores changes of documents, each named once. The changes of a document are stored in their order, under one new number of
 * the document. Refuses changes that would make a value, or all values of the document together, too large. The result of a
 * document that does not exist is undefined. Returns fewer results than documents if values are large or time is short: the
 * other documents are left for the next call.
 */
export async function setAll(
  db: Db,
  writes: readonly DocumentChanges[],
  now: number,
  { maxMergeBytes = Infinity, isLate = () => false, skipLocked = false }: SetOptions = {},
): Promise<(ChangeResult | undefined)[]> {
  const merges: MergeResult[] = []
  for (let bytes = 0; merges.length < writes.length;) {
    if (merges.length > 0 && (bytes >= maxBytesPerCall || isLate())) break
    const { apiKey, document, changes } = writes[merges.length] as DocumentChanges
    const merge = await mergeChanges(db, keyOf(apiKey, document), changes, maxMergeBytes)
    merges.push(merge)
    bytes += merge.bytes
  }
  const begun = writes.slice(0, merges.length)
  const totals = await Promise.all(
    begun.map(({ apiKey, document }) => selectTotal(db, keyOf(apiKey, document))),
  )
  for (const [index, write] of begun.entries()) {
    await refuseExcess(db, write, merges[index] as MergeResult, totals[index]?.[0])
  }

  const changed = begun.filter((_, index) => (merges[index] as MergeResult).values.size > 0)
  const positions = await documents.numberChanges(
    db,
    inLockOrder(
      changed.map(({ apiKey, document: { organizationId, documentId } }) => ({
        apiKey,
        organizationId,
        documentId,
      })),
      (one) => tenantDocumentKey(one.apiKey, one),
    ),
    skipLocked ? 'skip' : 'wait',
  )
  const results = begun.map(({ apiKey, document }, index) => {
    const { values, bytes: _bytes, ...result } = merges[index] as MergeResult
    if (values.size === 0) return { ...result, position: undefined }
    const position = positions.get(tenantDocumentKey(apiKey, document))
    if (position) return { ...result, position }
    return skipLocked ? locked : undefined
  })
  await put(db, inLockOrder(rowsOf(begun, merges, results, now), lockKeyOf))
  return results
}

const locked: ChangeResult = { position: undefined, refused: new Map(), count: 0, isLocked: true }

function rowsOf(
  writes: readonly DocumentChanges[],
  merges: readonly MergeResult[],
  results: readonly (ChangeResult | undefined)[],
  now: number,
) {
  return writes.flatMap(({ apiKey, document }, index) => {
    const position = results[index]?.position
    if (!position) return []
    const { values } = merges[index] as MergeResult
    return [...values].map(([live_state_data_id, { members, userId }]) => ({
      ...keyOf(apiKey, document),
      live_state_data_id,
      data: String(members),
      user_id: userId,
      now,
      seq: position.seq,
    }))
  })
}

/** The new values by name, and the other fields of the `ChangeResult`. */
interface MergeResult {
  values: Map<string, Value>
  refused: Map<Change, Refusal>
  count: number
  mergeWith?: string
  /** Bytes of the changes and of the values that they were merged into. */
  bytes: number
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
  let bytes = 0
  for (; count < changes.length && bytes < maxBytesPerCall; count++) {
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
      if (merged?.below !== below) return { values, refused, count, bytes, mergeWith: below }
      fits = merged.json !== undefined
      members = new JsonMembers(merged.json)
    }
    if (fits) values.set(id, { members, userId })
    else refused.set(change, tooLarge)
  }
  return { values, refused, count, bytes }
}

/** Refuses the changes of the values for which the document has no room. */
async function refuseExcess(
  db: Db,
  { apiKey, document, changes }: DocumentChanges,
  { values, refused, count }: MergeResult,
  total: Total | undefined,
): Promise<void> {
  const excess = await findExcess(db, keyOf(apiKey, document), values, total)
  for (const change of changes.slice(0, count)) {
    if (excess.has(change.liveStateDataId) && !refused.has(change)) refused.set(change, documentFull)
  }
  for (const id of excess) values.delete(id)
}

/**
 * The names of the values for which the document has no room. Concurrent changes of a document collide when they increment
 * its number, so the sizes that are read here are still true at the end of the transaction.
 */
async function findExcess(
  db: Db,
  key: DocumentKey,
  values: ReadonlyMap<string, Value>,
  total: Total | undefined,
): Promise<ReadonlySet<string>> {
  const excess = new Set<string>()
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

const selectTotal = prepared(
  (db, key: DocumentKey) =>
    db
      .selectFrom('live_states')
      .select((eb) => [
        eb.fn.countAll<number>().as('states'),
        sql<number | null>`sum(${bytesOfData})`.as('bytes'),
      ])
      .where((eb) => eb.and(key)),
  { isSmallRead: true },
)
type Total = Awaited<ReturnType<typeof selectTotal>>[number]

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

const keyOf = (apiKey: string, { organizationId, documentId }: DocumentRef): DocumentKey => ({
  api_key: apiKey,
  organization_id: organizationId,
  document_id: documentId,
})
const lockKeyOf = (key: Key) =>
  `${key.api_key}\0${key.organization_id}\0${key.document_id}\0${key.live_state_data_id}`

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
