import type { Db } from '../engine/db.ts'
import { areConsecutive, byteCount, bytesIfSmall, readLargeUpdate, type Update } from './log-reading.ts'
import { type Key, keyOf } from './editors.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { EditorRef } from '../refs.ts'

export { append, appendSkippingLocked } from './append.ts'
export type { Appended, Entry } from './log-entry.ts'
export {
  type EditorLog,
  load,
  partsOf,
  read,
  readOwners,
  type StoredLog,
  type Update,
} from './log-reading.ts'
export { compact, compactInTransaction, isLarge, type NewSnapshot } from './snapshots.ts'

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
    .select(['editor_updates.seq', 'editor_updates.user_id'])
    .select([bytesIfSmall.as('bytes'), byteCount.as('size')])
    .where('editors.api_key', '=', key.api_key)
    .where('editors.organization_id', '=', key.organization_id)
    .where('editors.document_id', '=', key.document_id)
    .where('editors.editor_id', '=', key.editor_id)
    .orderBy('editor_updates.seq'),
)

/**
 * Returns the updates after `seq`. Returns `compacted` if a compaction removed some of them, so that the log must be loaded.
 * Returns undefined if the editor does not exist, or was created again: at another time than `createdAt`, or with fewer updates.
 */
export async function readAfter(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  { seq, createdAt }: { seq: number; createdAt?: number },
): Promise<{ createdAt: number; updates: (Update & { userId: string })[] } | 'compacted' | undefined> {
  const rows = await selectAfter(db, { ...keyOf(apiKey, ref), after: seq })
  const [editor] = rows
  if (!editor || editor.newest < seq) return undefined
  if (createdAt !== undefined && editor.created_at !== createdAt) return undefined
  const updates: (Update & { userId: string })[] = []
  for (const { seq, bytes, size, user_id: userId } of rows) {
    if (seq === null || userId === null) continue
    const whole = bytes ?? (await readLargeUpdate(db, keyOf(apiKey, ref), seq, size))
    if (whole) updates.push({ seq, bytes: whole, userId })
  }
  return areConsecutive(updates, seq, editor.newest) ? { createdAt: editor.created_at, updates } : 'compacted'
}

/**
 * Whether a change that was computed from the log up to `seq` can still be appended: the editor is the same, and `writer` has
 * appended nothing since. Updates of other writers do not matter: Yjs merges them like concurrent updates of two clients. The
 * editor is locked: no other transaction appends to it until this one ends.
 */
export async function canStillAppend(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  { createdAt, seq }: { createdAt: number; seq: number },
  writer: string,
): Promise<boolean> {
  const rows = await lockIfUnchanged(db, { ...keyOf(apiKey, ref), createdAt, after: seq, writer })
  return rows.length > 0
}

const lockIfUnchanged = prepared(
  (db, { createdAt, after, writer, ...key }: Key & { createdAt: number; after: number; writer: string }) =>
    db
      .selectFrom('editors')
      .select('seq')
      .where((eb) => eb.and(key))
      .where('created_at', '=', createdAt)
      // A later snapshot does not show which updates of the writer it contains.
      .where('snapshot_seq', '<=', after)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('editor_updates')
              .select('seq')
              .where((eb) => eb.and(key))
              .where('seq', '>', after)
              .where('user_id', '=', writer),
          ),
        ),
      )
      .$if(sqliteOf(db) === undefined, (query) => query.forNoKeyUpdate()),
)

/**
 * Whether a snapshot is due. The cost of opening an editor grows with its tail, and the cost of a snapshot with the size of
 * the editor. So the tail may have as many bytes as the snapshot: then all snapshots together write at most about twice the
 * bytes of the updates. The limit on the number of updates can make them write more.
 */
export const needsSnapshot = (tail: Tail, snapshotBytes: number): boolean =>
  tail.updates >= maxTail.updates || tail.bytes > maxTailBytes(snapshotBytes)

/**
 * How many bytes the next update must have so that a snapshot is due after it, if its writer has built the document anyway. Such
 * a writer reads and builds the whole tail each time, so the tail of a small document is shorter.
 */
export function bytesUntilSnapshot(tail: Tail, snapshotBytes: number): number {
  const { updates, minBytes } = snapshotBytes <= maxSmallSnapshotBytes ? maxBuiltTail : maxTail
  return tail.updates + 1 >= updates ? 0 : Math.max(minBytes, snapshotBytes) + 1 - tail.bytes
}

/** The updates after the snapshot. */
interface Tail {
  updates: number
  bytes: number
}

/** A tail up to `minBytes` is never too large, however small the snapshot is. */
const maxTail = { updates: 500, minBytes: 64 * 1024 }
/** Limits where the next writer builds the document from the tail. With 32 small updates, that takes about 0.5 ms. */
const maxBuiltTail = { updates: 32, minBytes: 4 * 1024 }
const maxSmallSnapshotBytes = 64 * 1024
const maxTailBytes = (snapshotBytes: number) => Math.max(maxTail.minBytes, snapshotBytes)
