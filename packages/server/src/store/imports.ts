import type { Db } from './engine/db.ts'

/** How far an import of a workspace is. */
export interface ImportProgress {
  workspaceId: string
  /** The checksum of the export. */
  sha256: string
  /** How many rows of the export are stored. */
  lines: number
}

export async function find(db: Db, workspaceId: string): Promise<ImportProgress | undefined> {
  const row = await db
    .selectFrom('imports')
    .select(['sha256', 'lines'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return row && { workspaceId, ...row }
}

export async function add(
  db: Db,
  { workspaceId, sha256, lines }: ImportProgress,
  now: number,
): Promise<void> {
  await db
    .insertInto('imports')
    .values({ workspace_id: workspaceId, sha256, lines, created_at: now })
    .execute()
}

/** Returns false if another process has continued the import meanwhile. */
export async function advance(
  db: Db,
  { workspaceId, sha256, lines }: ImportProgress,
  before: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('imports')
    .set({ lines })
    .where('workspace_id', '=', workspaceId)
    .where('sha256', '=', sha256)
    .where('lines', '=', before)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function remove(db: Db, workspaceId: string): Promise<void> {
  await db.deleteFrom('imports').where('workspace_id', '=', workspaceId).execute()
}
