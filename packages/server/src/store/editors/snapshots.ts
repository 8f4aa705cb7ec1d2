import { randomUUID } from 'node:crypto'
import { countParts, inParts, maxPartBytes } from '../engine/byte-parts.ts'
import type { Database, Db } from '../engine/db.ts'
import { type Key, keyOf } from './editors.ts'
import type { EditorRef } from '../refs.ts'

/** A snapshot of the updates from the last snapshot (`snapshotSeq`) up to `seq`. */
export interface NewSnapshot {
  snapshotSeq: number
  seq: number
  snapshot: Uint8Array
  createdAt?: number
}

/** Whether it has several parts. */
export const isLarge = (snapshot: Uint8Array): boolean => countParts(snapshot) > 1

/**
 * Puts a snapshot in the place of the updates it was built from, if the snapshot below them is still the one it was built
 * on; false if not. A large snapshot is written in several transactions: nobody uses its parts before the last one.
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
 * Removes the parts of other snapshots, or of this one if it was not put in place. One by one: all at once take as long as
 * to write them. Parts that another server stages meanwhile are of no use, as the snapshot below them is gone.
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

/** The same for a snapshot that is not large, in one transaction; or for a large one, all parts but the first of which are there. */
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
  // Those below a large snapshot are removed one by one.
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
