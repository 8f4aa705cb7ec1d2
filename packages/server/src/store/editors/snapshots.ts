import { randomUUID } from 'node:crypto'
import { countParts, inParts, maxPartBytes } from '../engine/byte-parts.ts'
import type { Database, Db } from '../engine/db.ts'
import { type Key, keyOf } from './editors.ts'
import type { EditorRef } from '../refs.ts'

/** A snapshot of all updates up to `seq`, built from the snapshot with `snapshotSeq` and the updates after it. */
export interface NewSnapshot {
  snapshotSeq: number
  seq: number
  snapshot: Uint8Array
  createdAt?: number
}

/** Whether the snapshot is stored in several parts. */
export const isLarge = (snapshot: Uint8Array): boolean => countParts(snapshot) > 1

/**
 * Stores a snapshot and deletes the updates that it contains. Returns false, and stores nothing, if another snapshot was
 * stored in the meantime, or the editor was deleted. A large snapshot is written in several transactions. No reader uses
 * its parts before the last of them.
 */
export async function compact(
  database: Pick<Database, 'read' | 'write'>,
  apiKey: string,
  ref: EditorRef,
  newSnapshot: NewSnapshot,
): Promise<boolean> {
  const key = keyOf(apiKey, ref)
  if (!isLarge(newSnapshot.snapshot))
    return database.write((db) => compactInTransaction(db, apiKey, ref, newSnapshot), apiKey)
  const snapshotId = randomUUID()
  let isDone = false
  try {
    let part = 0
    for (const bytes of inParts(newSnapshot.snapshot)) {
      const row = { ...key, snapshot_id: snapshotId, part: part++, bytes }
      if (row.part === 0) continue
      await database.write((db) => db.insertInto('editor_snapshot_parts').values(row).execute(), apiKey)
    }
    isDone = await database.write(
      (db) => compactInTransaction(db, apiKey, ref, newSnapshot, snapshotId),
      apiKey,
    )
  } finally {
    // If this snapshot was stored, all others are unused. If not, this one is unused.
    await removeParts(database, key, (id) => (isDone ? id !== snapshotId : id === snapshotId))
  }
  return isDone
}

/**
 * Removes the parts of unused snapshots, one per transaction, because removing all together would take as long as writing
 * them. Parts that another server writes meanwhile may be removed, too: the snapshot that they build on was replaced, so
 * they are useless.
 */
async function removeParts(
  database: Pick<Database, 'read' | 'write'>,
  key: Key,
  isUnused: (snapshotId: string) => boolean,
): Promise<void> {
  const parts = await database.read
    .selectFrom('editor_snapshot_parts')
    .select(['snapshot_id', 'part'])
    .where((eb) => eb.and(key))
    .execute()
  for (const { snapshot_id: id, part } of parts) {
    if (!isUnused(id)) continue
    await database.write(
      (db) =>
        db
          .deleteFrom('editor_snapshot_parts')
          .where((eb) => eb.and({ ...key, snapshot_id: id, part }))
          .execute(),
      key.api_key,
    )
  }
}

/**
 * As `compact`, inside the caller's transaction. The snapshot is small, or its parts after the first are already stored under
 * `snapshotId`.
 */
export async function compactInTransaction(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  newSnapshot: NewSnapshot,
  snapshotId: string | null = null,
): Promise<boolean> {
  const key = keyOf(apiKey, ref)
  const { numUpdatedRows } = await db
    .updateTable('editors')
    .set({ snapshot_seq: newSnapshot.seq })
    .where((eb) => eb.and(key))
    .where('snapshot_seq', '=', newSnapshot.snapshotSeq)
    .where('seq', '>=', newSnapshot.seq)
    .$if(newSnapshot.createdAt !== undefined, (query) =>
      query.where('created_at', '=', newSnapshot.createdAt as number),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  const { snapshot } = newSnapshot
  const isSplit = snapshotId !== null
  const values = {
    bytes: isSplit ? snapshot.subarray(0, maxPartBytes) : snapshot,
    parts: isSplit ? countParts(snapshot) : 1,
    snapshot_id: snapshotId,
  }
  await db
    .insertInto('editor_snapshots')
    .values({ ...key, ...values })
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'document_id', 'editor_id']).doUpdateSet(values),
    )
    .execute()
  // `compact` removes the parts that a large snapshot replaces, one by one.
  if (!isSplit) {
    await db
      .deleteFrom('editor_snapshot_parts')
      .where((eb) => eb.and(key))
      .execute()
  }
  await db
    .deleteFrom('editor_updates')
    .where((eb) => eb.and(key))
    .where('seq', '<=', newSnapshot.seq)
    .execute()
  return true
}
