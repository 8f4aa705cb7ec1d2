import * as Y from 'yjs'
import * as documents from '../../../src/store/documents/documents.ts'
import * as editors from '../../../src/store/editors/editors.ts'
import * as editorLog from '../../../src/store/editors/log.ts'
import * as versions from '../../../src/store/editors/versions.ts'
import type { EditorRef } from '../../../src/store/refs.ts'
import type { TestServer } from '../harness.ts'

/** What is stored of an editor and no operation shows: its log, its root, and the bytes of its versions. */
type Server = Pick<TestServer, 'database'>
interface Owner {
  apiKey: string
}
type Root = NonNullable<editorLog.Entry['create']>

/** The snapshot and the updates of an editor; undefined if it does not exist. */
export const storedLog = ({ database }: Server, { apiKey }: Owner, editor: EditorRef) =>
  editorLog.read(database.read, apiKey, editor)

export interface Written {
  userId?: string
  sessionId?: string | null
  /** Creates the document, and the editor with this root. */
  create?: Root | null
  /** Who owns which Yjs client id from now on. */
  owners?: readonly (readonly [clientId: number, userId: string])[]
  now?: number
}

/** Appends updates of a live client to the log, as a server does that has accepted them. */
export async function appendUpdates(
  { database }: Server,
  { apiKey }: Owner,
  editor: EditorRef,
  updates: readonly Uint8Array[],
  { userId = 'u1', sessionId = null, create = null, owners = [], now = Date.now() }: Written = {},
): Promise<void> {
  const entries = updates.map((update, index) => ({
    apiKey,
    editor,
    update,
    writer: { userId, sessionId },
    create,
    owners: index === 0 ? owners : [],
  }))
  await database.write(async (db) => {
    if (create) await documents.ensure(db, apiKey, editor.organizationId, editor.documentId, now)
    await editorLog.append(db, entries, now)
  })
}

/** Replaces the updates of an editor by a snapshot, as another server does. */
export async function compactLog(server: Server, owner: Owner, editor: EditorRef): Promise<boolean> {
  const { seq, snapshotSeq, createdAt, updates } = (await storedLog(server, owner, editor))!
  const doc = new Y.Doc()
  for (const { bytes } of updates) Y.applyUpdate(doc, bytes)
  const snapshot = Y.encodeStateAsUpdate(doc)
  return editorLog.compact(server.database, owner.apiKey, editor, { snapshotSeq, seq, createdAt, snapshot })
}

/** The type and the name of the root that an editor was declared with. */
export const storedRoot = ({ database }: Server, { apiKey }: Owner, editor: EditorRef) =>
  editors.findDeclared(database.read, apiKey, editor)

/** Replaces the root of an editor, as another server does whose client declares it. */
export async function declareRoot(
  server: Server,
  owner: Owner,
  editor: EditorRef,
  root: Root,
): Promise<void> {
  const before = (await storedRoot(server, owner, editor))!
  await server.database.write((db) => editors.declare(db, owner.apiKey, editor, before, root))
}

/** Adds a version with each of these ids. All have the same bytes. */
export const addVersions = (
  { database }: Server,
  { apiKey }: Owner,
  editor: EditorRef,
  versionIds: readonly string[],
  bytes: Uint8Array,
  contentKey = 'content',
) =>
  database.write(async (db) => {
    for (const versionId of versionIds) {
      const version = { versionId, name: 'x', type: 'text', contentKey, createdAt: 1, bytes } as const
      await versions.add(db, apiKey, editor, version)
    }
  })

export const storedVersion = (
  { database }: Server,
  { apiKey }: Owner,
  editor: EditorRef,
  versionId: string,
) => versions.find(database.read, apiKey, editor, versionId)
