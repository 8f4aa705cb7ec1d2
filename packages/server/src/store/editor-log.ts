import type { Db } from './db.ts'
import { type Contents, type Key, keyOf, type Place } from './editors.ts'
import { prepared, sqliteOf } from './prepared.ts'

export { append, type Appended, appendFree, type Entry } from './editor-append.ts'

export interface Update {
  seq: number
  bytes: Uint8Array
}

/** The bytes of a Yjs document: a snapshot, if there is one, and the updates after it, in order. */
export interface StoredLog extends Contents {
  /** Tells the editor from one that is made under the same id after it was deleted. */
  createdAt: number
  /** Number of the newest update. */
  seq: number
  /** The snapshot holds every update up to this one. */
  snapshotSeq: number
  snapshot: Uint8Array | null
  updates: Update[]
  /** False when updates are missing. */
  complete: boolean
  lastUpdated: number
  lastUpdatedBy: string
  sessionId: string | null
}

export interface EditorLog extends StoredLog {
  /** Whose the client ids are that wrote here. */
  owners: Map<number, string>
}

/** One statement: between two, a compaction could move updates out of the sight of both. The snapshot comes first. */
const selectLog = prepared((db, key: Key) =>
  db
    .selectFrom('editors')
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('editor_snapshots')
          .select((eb) => [eb.lit<number>(0).as('at'), 'bytes'])
          .where((eb) => eb.and(key))
          .unionAll(
            eb
              .selectFrom('editor_updates')
              .select(['seq as at', 'bytes'])
              .where((eb) => eb.and(key)),
          )
          .as('log'),
      (join) => join.onTrue(),
    )
    .select(['type', 'content_key', 'created_at', 'seq', 'snapshot_seq'])
    .select(['last_updated', 'last_updated_by', 'session_id'])
    .select(['log.at', 'log.bytes'])
    .where((eb) => eb.and(key))
    .orderBy('log.at'),
)

export async function read(db: Db, apiKey: string, place: Place): Promise<StoredLog | undefined> {
  const rows = await selectLog(db, keyOf(apiKey, place))
  const [editor] = rows
  if (!editor) return undefined
  const updates: Update[] = []
  let snapshot: Uint8Array | null = null
  for (const { at, bytes } of rows) {
    if (at === null || bytes === null) continue
    if (at === 0) snapshot = bytes
    else updates.push({ seq: at, bytes })
  }
  return {
    type: editor.type,
    contentKey: editor.content_key,
    createdAt: editor.created_at,
    seq: editor.seq,
    snapshotSeq: editor.snapshot_seq,
    snapshot,
    updates,
    complete:
      (snapshot !== null || editor.snapshot_seq === 0) && follows(updates, editor.snapshot_seq, editor.seq),
    lastUpdated: editor.last_updated,
    lastUpdatedBy: editor.last_updated_by,
    sessionId: editor.session_id,
  }
}

/** Whether these are all updates after the one up to the other. */
const follows = (updates: readonly Update[], after: number, upTo: number) =>
  updates.length === upTo - after && updates.every(({ seq }, index) => seq === after + index + 1)

const selectOwners = prepared((db, key: Key) =>
  db
    .selectFrom('editor_clients')
    .select(['client_id', 'user_id'])
    .where((eb) => eb.and(key)),
)

/** Whose the client ids are that wrote in it. */
export async function readOwners(db: Db, apiKey: string, place: Place): Promise<Map<number, string>> {
  const rows = await selectOwners(db, keyOf(apiKey, place))
  return new Map(rows.map((row) => [row.client_id, row.user_id]))
}

export async function load(db: Db, apiKey: string, place: Place): Promise<EditorLog | undefined> {
  const log = await read(db, apiKey, place)
  return log && { ...log, owners: await readOwners(db, apiKey, place) }
}

const selectAfter = prepared((db, { after, ...key }: Key & { after: number }) =>
  db
    .selectFrom('editors')
    .leftJoin('editor_updates', (join) =>
      join
        .onRef('editor_updates.api_key', '=', 'editors.api_key')
        .onRef('editor_updates.organization_id', '=', 'editors.organization_id')
        .onRef('editor_updates.document_id', '=', 'editors.document_id')
        .onRef('editor_updates.editor_id', '=', 'editors.editor_id')
        .on('editor_updates.seq', '>', after),
    )
    .select(['editors.created_at', 'editors.seq as newest'])
    .select(['editor_updates.seq', 'editor_updates.bytes', 'editor_updates.user_id'])
    .where('editors.api_key', '=', key.api_key)
    .where('editors.organization_id', '=', key.organization_id)
    .where('editors.document_id', '=', key.document_id)
    .where('editors.editor_id', '=', key.editor_id)
    .orderBy('editor_updates.seq'),
)

/**
 * The updates after that one, of the editor that was made then if that is known; `compacted` when they are not all there
 * any more, so that the log must be loaded; undefined when the editor is gone, or begins anew.
 */
export async function readAfter(
  db: Db,
  apiKey: string,
  place: Place,
  { seq, createdAt }: { seq: number; createdAt?: number },
): Promise<{ createdAt: number; updates: (Update & { userId: string })[] } | 'compacted' | undefined> {
  const rows = await selectAfter(db, { ...keyOf(apiKey, place), after: seq })
  const [editor] = rows
  if (!editor || editor.newest < seq) return undefined
  if (createdAt !== undefined && editor.created_at !== createdAt) return undefined
  const updates = rows.flatMap(({ seq, bytes, user_id: userId }) =>
    seq === null || bytes === null || userId === null ? [] : { seq, bytes, userId },
  )
  return follows(updates, seq, editor.newest) ? { createdAt: editor.created_at, updates } : 'compacted'
}

/**
 * Whether a change that was computed from the log up to `seq` can still be appended: the editor is the same one, and `writer`
 * has appended nothing since. What others appended does not matter: Yjs merges it, as it merges what two clients write at
 * the same time. Nobody else appends until the transaction ends.
 */
export async function stillFits(
  db: Db,
  apiKey: string,
  place: Place,
  { createdAt, seq }: { createdAt: number; seq: number },
  writer: string,
): Promise<boolean> {
  const key = keyOf(apiKey, place)
  const row = await db
    .selectFrom('editors')
    .select('seq')
    .where((eb) => eb.and(key))
    .where('created_at', '=', createdAt)
    // A later snapshot does not tell who wrote what it holds.
    .where('snapshot_seq', '<=', seq)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('editor_updates')
            .select('seq')
            .where((eb) => eb.and(key))
            .where('seq', '>', seq)
            .where('user_id', '=', writer),
        ),
      ),
    )
    .$if(sqliteOf(db) === undefined, (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Puts a snapshot in the place of the updates it was built from, if the snapshot below them is still the one it was built
 * on; false if not.
 */
export async function compactIf(
  db: Db,
  apiKey: string,
  place: Place,
  change: { snapshotSeq: number; seq: number; snapshot: Uint8Array; createdAt?: number },
): Promise<boolean> {
  const key = keyOf(apiKey, place)
  const { numUpdatedRows } = await db
    .updateTable('editors')
    .set({ snapshot_seq: change.seq })
    .where((eb) => eb.and(key))
    .where('snapshot_seq', '=', change.snapshotSeq)
    .where('seq', '>=', change.seq)
    .$if(change.createdAt !== undefined, (query) =>
      query.where('created_at', '=', change.createdAt as number),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await db
    .insertInto('editor_snapshots')
    .values({ ...key, bytes: change.snapshot })
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'document_id', 'editor_id'])
        .doUpdateSet({ bytes: change.snapshot }),
    )
    .execute()
  await db
    .deleteFrom('editor_updates')
    .where((eb) => eb.and(key))
    .where('seq', '<=', change.seq)
    .execute()
  return true
}

/**
 * Opening a document costs as much as its tail is long; making a snapshot costs as much as it is large. So the tail may
 * grow with the snapshot, and all snapshots together cost no more than what was written.
 */
export const isLong = (tail: Tail, snapshotBytes: number): boolean =>
  tail.updates >= longTail.updates || tail.bytes > bytesBeside(snapshotBytes)

/** From how many bytes on one more update makes a tail long. */
export const longFrom = (tail: Tail, snapshotBytes: number): number =>
  tail.updates + 1 >= longTail.updates ? 0 : bytesBeside(snapshotBytes) + 1 - tail.bytes

interface Tail {
  updates: number
  bytes: number
}

const longTail = { updates: 500, leastBytes: 64 * 1024 }
const bytesBeside = (snapshotBytes: number) => Math.max(longTail.leastBytes, snapshotBytes)
