import type { Cursor, Db } from './db.ts'
import { type ContentType, keyOf, type Place } from './editors.ts'
import type { EditorVersionTable } from './schema.ts'

/** A state of an editor that somebody gave a name. */
export interface EditorVersion {
  versionId: string
  name: string
  type: ContentType
  createdAt: number
}

/** The same with the bytes of its Yjs document. */
export interface StoredVersion extends EditorVersion {
  contentKey: string
  bytes: Uint8Array
}

const columns = ['version_id', 'name', 'type', 'created_at'] as const
type Row = Pick<EditorVersionTable, (typeof columns)[number]>

const toVersion = (row: Row): EditorVersion => ({
  versionId: row.version_id,
  name: row.name,
  type: row.type,
  createdAt: row.created_at,
})

/** The newest first. */
export async function list(
  db: Db,
  apiKey: string,
  place: Place,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<EditorVersion[]> {
  let query = db
    .selectFrom('editor_versions')
    .select(columns)
    .where((eb) => eb.and(keyOf(apiKey, place)))
    .orderBy('created_at', 'desc')
    .orderBy('version_id', 'desc')
    .limit(limit)
  if (after) {
    const [createdAt, versionId] = after as [number, string]
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'version_id'), '<', eb.tuple(createdAt, versionId)),
    )
  }
  return (await query.execute()).map(toVersion)
}

export async function count(db: Db, apiKey: string, place: Place): Promise<number> {
  const { versions } = await db
    .selectFrom('editor_versions')
    .select((eb) => eb.fn.countAll<number>().as('versions'))
    .where((eb) => eb.and(keyOf(apiKey, place)))
    .executeTakeFirstOrThrow()
  return versions
}

export async function find(
  db: Db,
  apiKey: string,
  place: Place,
  versionId: string,
): Promise<StoredVersion | undefined> {
  const row = await db
    .selectFrom('editor_versions')
    .select([...columns, 'content_key', 'bytes'])
    .where((eb) => eb.and(keyOf(apiKey, place)))
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row && { ...toVersion(row), contentKey: row.content_key, bytes: row.bytes }
}

/** Adds one to an editor that exists. */
export async function add(db: Db, apiKey: string, place: Place, version: StoredVersion): Promise<void> {
  await db
    .insertInto('editor_versions')
    .values({
      ...keyOf(apiKey, place),
      version_id: version.versionId,
      name: version.name,
      type: version.type,
      content_key: version.contentKey,
      created_at: version.createdAt,
      bytes: version.bytes,
    })
    .execute()
}
