import type { Db } from '../engine/db.ts'
import { byteCount, bytesIfFew, follows, readLargeUpdate, type Update } from './log-reading.ts'
import { type Key, keyOf } from './editors.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { EditorRef } from '../refs.ts'

export { append, appendFree } from './append.ts'
export type { Appended, Entry } from './log-entry.ts'
export { type EditorLog, load, read, readOwners, type StoredLog, type Update } from './log-reading.ts'
export { compact, compactIf, isLarge, type NewSnapshot } from './snapshots.ts'

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
    .select([bytesIfFew.as('bytes'), byteCount.as('size')])
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
  ref: EditorRef,
  { createdAt, seq }: { createdAt: number; seq: number },
  writer: string,
): Promise<boolean> {
  const key = keyOf(apiKey, ref)
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
