import { setImmediate } from 'node:timers/promises'
import { countParts, inParts, joinParts } from './byte-parts.ts'
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
  const key = { ...keyOf(apiKey, place), version_id: versionId }
  const row = await db
    .selectFrom('editor_versions')
    .select([...columns, 'content_key', 'bytes', 'parts'])
    .where((eb) => eb.and(key))
    .executeTakeFirst()
  if (!row) return undefined
  const bytes = await joinParts(row.bytes, row.parts, async (part) => {
    const found = await db
      .selectFrom('editor_version_parts')
      .select('bytes')
      .where((eb) => eb.and({ ...key, part }))
      .executeTakeFirst()
    return found?.bytes
  })
  // Without all of its parts it was deleted meanwhile.
  return bytes ? { ...toVersion(row), contentKey: row.content_key, bytes } : undefined
}

/** Adds one to an editor that exists. */
export async function add(db: Db, apiKey: string, place: Place, version: StoredVersion): Promise<void> {
  const key = { ...keyOf(apiKey, place), version_id: version.versionId }
  let part = 0
  for (const bytes of inParts(version.bytes)) {
    if (part === 0) {
      const { name, type, contentKey: content_key, createdAt: created_at } = version
      const row = { ...key, name, type, content_key, created_at, bytes, parts: countParts(version.bytes) }
      await db.insertInto('editor_versions').values(row).execute()
    } else {
      await setImmediate()
      await db
        .insertInto('editor_version_parts')
        .values({ ...key, part, bytes })
        .execute()
    }
    part++
  }
}
