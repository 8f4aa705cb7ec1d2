import { setImmediate } from 'node:timers/promises'
import { countParts, inParts, joinParts } from '../engine/byte-parts.ts'
import type { VersionUser } from '@plenum/protocol'
import type { Cursor, Db } from '../engine/db.ts'
import { type ContentType, keyOf } from './editors.ts'
import { parse } from '../engine/json.ts'
import type { EditorVersionTable } from '../schema/editor-tables.ts'
import type { EditorRef } from '../refs.ts'

/** A saved state of an editor, with a name. */
export interface EditorVersion {
  versionId: string
  name: string
  type: ContentType
  createdAt: number
  createdBy?: VersionUser
}

/** A longer name of an author is truncated. Tokens may contain longer names. */
const maxNameLength = 200

export function authorOf(userId: string, name: string | undefined): VersionUser {
  return name === undefined ? { userId } : { userId, name: Array.from(name).slice(0, maxNameLength).join('') }
}

/** A version with the bytes of its Yjs document. */
export interface StoredVersion extends EditorVersion {
  contentKey: string
  bytes: Uint8Array
}

const withAuthors = (db: Db) =>
  db
    .selectFrom('editor_versions as version')
    .leftJoin('editor_version_authors as by', (join) =>
      join
        .onRef('by.api_key', '=', 'version.api_key')
        .onRef('by.organization_id', '=', 'version.organization_id')
        .onRef('by.document_id', '=', 'version.document_id')
        .onRef('by.editor_id', '=', 'version.editor_id')
        .onRef('by.version_id', '=', 'version.version_id'),
    )
    .select(['version.version_id', 'version.name', 'version.type', 'version.created_at', 'by.author'])

type Row = Pick<EditorVersionTable, 'version_id' | 'name' | 'type' | 'created_at'> & { author: string | null }

const inEditor = (apiKey: string, { organizationId, documentId, editorId }: EditorRef) => ({
  'version.api_key': apiKey,
  'version.organization_id': organizationId,
  'version.document_id': documentId,
  'version.editor_id': editorId,
})

const toVersion = (row: Row): EditorVersion => ({
  versionId: row.version_id,
  name: row.name,
  type: row.type,
  createdAt: row.created_at,
  ...(row.author !== null && { createdBy: parse(row.author) }),
})

/** The versions of an editor, the newest first. */
export async function list(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<EditorVersion[]> {
  let query = withAuthors(db)
    .where((eb) => eb.and(inEditor(apiKey, ref)))
    .orderBy('version.created_at', 'desc')
    .orderBy('version.version_id', 'desc')
    .limit(limit)
  if (after) {
    const [createdAt, versionId] = after as [number, string]
    query = query.where((eb) =>
      eb(eb.refTuple('version.created_at', 'version.version_id'), '<', eb.tuple(createdAt, versionId)),
    )
  }
  return (await query.execute()).map(toVersion)
}

export async function count(db: Db, apiKey: string, ref: EditorRef): Promise<number> {
  const { versions } = await db
    .selectFrom('editor_versions')
    .select((eb) => eb.fn.countAll<number>().as('versions'))
    .where((eb) => eb.and(keyOf(apiKey, ref)))
    .executeTakeFirstOrThrow()
  return versions
}

export async function find(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  versionId: string,
): Promise<StoredVersion | undefined> {
  const key = { ...keyOf(apiKey, ref), version_id: versionId }
  const row = await withAuthors(db)
    .select(['version.content_key', 'version.bytes', 'version.parts'])
    .where((eb) => eb.and({ ...inEditor(apiKey, ref), 'version.version_id': versionId }))
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
  // A part is missing if the version was deleted in the meantime.
  return bytes ? { ...toVersion(row), contentKey: row.content_key, bytes } : undefined
}

/** Adds a version to an existing editor. */
export async function add(db: Db, apiKey: string, ref: EditorRef, version: StoredVersion): Promise<void> {
  const key = { ...keyOf(apiKey, ref), version_id: version.versionId }
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
  if (!version.createdBy) return
  const author = JSON.stringify(version.createdBy)
  await db
    .insertInto('editor_version_authors')
    .values({ ...key, author })
    .execute()
}
