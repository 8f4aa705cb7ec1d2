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
 * Replaces the updates that a snapshot was built from by the snapshot; false if another snapshot was stored in the meantime.
 * A large snapshot is written in several transactions. No reader uses its parts before the last transaction.
 */
export async function compact(
  database: Pick<Database, 'read' | 'write'>,
  apiKey: string,
  ref: EditorRef,
  change: NewSnapshot,
): Promise<boolean> {
  const key = keyOf(apiKey, ref)
  if (!isLarge(change.snapshot)) return database.write((db) => compactIf(db, apiKey, ref, change), apiKey)
  const snapshotId = randomUUID()
  let isDone = false
  try {
    let part = 0
    for (const bytes of inParts(change.snapshot)) {
      const row = { ...key, snapshot_id: snapshotId, part: part++, bytes }
      if (row.part === 0) continue
      await database.write((db) => db.insertInto('editor_snapshot_parts').values(row).execute(), apiKey)
    }
    isDone = await database.write((db) => compactIf(db, apiKey, ref, change, snapshotId), apiKey)
  } finally {
    await removeParts(database, key, (id) => (id === snapshotId) !== isDone)
  }
  return isDone
}

/**
 * Removes the parts of other snapshots, or of this one if it was not stored. One by one, because removing them together would
 * take as long as writing them. Parts that another server writes meanwhile are useless: their base snapshot is replaced.
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

/** As `compact`, in one transaction: for a small snapshot, or for a large one whose further parts are already stored. */
export async function compactIf(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  change: NewSnapshot,
  snapshotId: string | null = null,
): Promise<boolean> {
  const key = keyOf(apiKey, ref)
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
  const { snapshot } = change
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
  // Parts of the snapshot below a large one are removed one by one.
  if (!isSplit) {
    await db
      .deleteFrom('editor_snapshot_parts')
      .where((eb) => eb.and(key))
      .execute()
  }
  await db
    .deleteFrom('editor_updates')
    .where((eb) => eb.and(key))
    .where('seq', '<=', change.seq)
    .execute()
  return true
}
