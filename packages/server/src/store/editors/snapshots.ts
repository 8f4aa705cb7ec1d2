import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { countParts, inParts, maxPartBytes } from '../engine/byte-parts.ts'
import { mayBeCommitted } from '../engine/certainty.ts'
import type { Database, Db } from '../engine/db.ts'
import { type Key, keyOf } from './editors.ts'
import { prepared } from '../engine/prepared.ts'
import type { EditorRef } from '../refs.ts'

/** A snapshot of all updates up to `seq`, built from the snapshot with `snapshotSeq` and at least one update after it. */
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
 * stored in the meantime, the editor was deleted, or the snapshot contains no new update. A large snapshot is written in
 * several transactions. No reader uses its parts before the last of them.
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
  try {
    await writeParts(database, { ...key, snapshot_id: snapshotId }, newSnapshot.snapshot)
  } catch (error) {
    await removeParts(database, key, [snapshotId])
    throw error
  }
  /** The ids of the snapshots that the new one makes useless. Undefined: it was not stored. */
  let useless: string[] | undefined
  try {
    useless = await database.write(async (db) => {
      const others = await otherSnapshotIds(db, key, snapshotId)
      return (await compactInTransaction(db, apiKey, ref, newSnapshot, snapshotId)) ? others : undefined
    }, apiKey)
  } catch (error) {
    // If the answer to the commit was lost, the snapshot may be stored. If it is not, the next one removes its parts.
    if (!mayBeCommitted(error)) await removeParts(database, key, [snapshotId])
    throw error
  }
  await removeParts(database, key, useless ?? [snapshotId])
  return useless !== undefined
}

/**
 * The snapshots with parts, except the given one. When that one is stored, the others are useless: the old snapshot, those
 * that were never finished, and those that another server writes meanwhile, because they build on the old snapshot.
 */
async function otherSnapshotIds(db: Db, key: Key, snapshotId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('editor_snapshot_parts')
    .select('snapshot_id')
    .distinct()
    .where((eb) => eb.and(key))
    .where('snapshot_id', '!=', snapshotId)
    .execute()
  return rows.map(({ snapshot_id: id }) => id)
}

/** Writes the parts after the first, one per transaction. */
async function writeParts(
  database: Pick<Database, 'write'>,
  id: Key & { snapshot_id: string },
  snapshot: Uint8Array,
): Promise<void> {
  let part = 0
  for (const bytes of inParts(snapshot)) {
    const row = { ...id, part: part++, bytes }
    if (row.part === 0) continue
    await database.write((db) => db.insertInto('editor_snapshot_parts').values(row).execute(), id.api_key)
  }
}

/** Removes parts one per transaction, because removing all together would take as long as writing them. */
async function removeParts(
  database: Pick<Database, 'read' | 'write'>,
  key: Key,
  snapshotIds: readonly string[],
): Promise<void> {
  if (snapshotIds.length === 0) return
  const parts = await database.read
    .selectFrom('editor_snapshot_parts')
    .select(['snapshot_id', 'part'])
    .where((eb) => eb.and(key))
    .where('snapshot_id', 'in', snapshotIds)
    .execute()
  for (const part of parts) {
    await database.write(
      (db) =>
        db
          .deleteFrom('editor_snapshot_parts')
          .where((eb) => eb.and({ ...key, ...part }))
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
  const { seq, snapshot, snapshotSeq, createdAt = null } = newSnapshot
  const key = keyOf(apiKey, ref)
  const [editor] = await advanceSnapshot(db, { ...key, seq, from: snapshotSeq, createdAt })
  if (!editor) return false
  const isSplit = snapshotId !== null
  await putSnapshot(db, {
    ...key,
    bytes: isSplit ? snapshot.subarray(0, maxPartBytes) : snapshot,
    parts: isSplit ? countParts(snapshot) : 1,
    snapshotId,
  })
  // `compact` removes the parts that a large snapshot replaces, one by one.
  if (!isSplit) await deleteParts(db, key)
  await deleteUpdates(db, { ...key, upTo: seq })
  return true
}

const advanceSnapshot = prepared(
  (db, { seq, from, createdAt, ...key }: Key & { seq: number; from: number; createdAt: number | null }) =>
    db
      .updateTable('editors')
      .set({ snapshot_seq: seq })
      .where((eb) => eb.and(key))
      .where('snapshot_seq', '=', from)
      // Otherwise a snapshot that builds on the replaced one could still be stored, after its parts were removed.
      .where('snapshot_seq', '<', seq)
      .where('seq', '>=', seq)
      .where((eb) => eb('created_at', '=', eb.fn.coalesce(sql<number>`${createdAt}`, 'created_at')))
      .returning('seq'),
)

const putSnapshot = prepared(
  (
    db,
    {
      bytes,
      parts,
      snapshotId,
      ...key
    }: Key & { bytes: Uint8Array; parts: number; snapshotId: string | null },
  ) => {
    const values = { bytes, parts, snapshot_id: snapshotId }
    return db
      .insertInto('editor_snapshots')
      .values({ ...key, ...values })
      .onConflict((conflict) =>
        conflict.columns(['api_key', 'organization_id', 'document_id', 'editor_id']).doUpdateSet(values),
      )
  },
)

const deleteParts = prepared((db, key: Key) =>
  db.deleteFrom('editor_snapshot_parts').where((eb) => eb.and(key)),
)

const deleteUpdates = prepared((db, { upTo, ...key }: Key & { upTo: number }) =>
  db
    .deleteFrom('editor_updates')
    .where((eb) => eb.and(key))
    .where('seq', '<=', upTo),
)
