/** Updates of one editor, and versions of one editor. */
import { sql } from 'kysely'
import * as Y from 'yjs'
import type { Tenant } from '../../packages/server/test/support/given.ts'
import * as editorLog from '../../packages/server/src/store/editors/log.ts'
import { contentOf, createTypist } from '../fan-out/typing.ts'
import { type Kind, openCase, restCase } from './case.ts'
import { around, type Rows, randomIdOf } from './rows.ts'

const organizationId = 'org'
const editorId = 'text'
const pageSize = 20

/** The server stores a snapshot after at most 500 updates. Every size has this many updates after its snapshot. */
const updatesAfterSnapshot = 50
const changesPerTransaction = 200
/** A room stays in memory for 10 s after its last client. So the openings take turns among many copies. */
const editorCopies = 60
const openingsPerRound = 5
/** The text that the rewriting user keeps. */
const shortLength = 2000

/** Ways to write an editor. Each returns a function that makes this many changes. */
const writers = {
  'typed text': createTypist,
  [`${shortLength} characters, rewritten`]: createRewriter,
}

/** Deletes the oldest character and types a new one, so the text keeps its length, however many updates there are. */
function createRewriter(doc: Y.Doc): (changeCount: number) => void {
  const text = contentOf(doc)
  return (changeCount) => {
    for (let n = 0; n < changeCount; n++) {
      if (text.length > shortLength) text.delete(0, 1)
      else text.insert(text.length, 'x')
    }
  }
}

const documentIdOf = (writer: number, copy: number | string) => `written-${writer}-${copy}`

export const updates: Kind = {
  name: 'updates',
  async prepare(tenant) {
    const { client } = tenant
    for (const writer of Object.keys(writers).keys()) {
      const documentId = documentIdOf(writer, 'first')
      await client.crdt.add({ organizationId, documentId, editorId, type: 'text', data: 'A' })
    }
    return {
      async fill(rows, count) {
        for (const [writer, create] of Object.values(writers).entries()) {
          await writeUpdates(rows, tenant, documentIdOf(writer, 'first'), create, count)
          await copyDocument(rows, tenant, writer)
        }
      },
      cases: (server) =>
        Object.keys(writers).flatMap((title, writer) => [
          openCase(server, {
            title: `open, ${title}`,
            room: (n) => `${organizationId}/${documentIdOf(writer, 1 + (n % editorCopies))}/${editorId}`,
            maxRequests: openingsPerRound,
          }),
          restCase(server, {
            title: `read the content, ${title}`,
            path: '/v2/crdt/get',
            maxRequests: openingsPerRound,
            data: (n) => ({
              organizationId,
              documentId: documentIdOf(writer, 1 + (n % editorCopies)),
              editorId,
            }),
            minItems: 1,
          }),
        ]),
    }
  },
}

/** Stores updates until the editor has `count`: a snapshot, and the last updates after it. */
async function writeUpdates(
  { database }: Rows,
  { apiKey }: Tenant,
  documentId: string,
  createWriter: (doc: Y.Doc) => (changeCount: number) => void,
  count: number,
): Promise<void> {
  const ref = { organizationId, documentId, editorId }
  const stored = await editorLog.read(database.read, apiKey, ref)
  if (!stored) throw new Error(`The server has not stored the editor of ${documentId}.`)
  const doc = new Y.Doc()
  for (const update of [stored.snapshot, ...stored.updates.map(({ bytes }) => bytes)]) {
    if (update) Y.applyUpdate(doc, update)
  }
  const write = createWriter(doc)
  const snapshotSeq = count - updatesAfterSnapshot
  // Yjs merges neighboring items at the end of a transaction. In one large transaction, each change would pass all items.
  for (let left = snapshotSeq - stored.seq; left > 0; left -= changesPerTransaction) {
    doc.transact(() => write(Math.min(left, changesPerTransaction)))
  }
  const snapshot = Y.encodeStateAsUpdate(doc)
  const tail: Uint8Array[] = []
  doc.on('update', (bytes: Uint8Array) => tail.push(bytes))
  write(updatesAfterSnapshot)
  const key = {
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
    editor_id: editorId,
  }
  await database.write(async (db) => {
    await db
      .updateTable('editors')
      .set({ seq: count })
      .where((eb) => eb.and(key))
      .execute()
  })
  const isStored = await editorLog.compact(database, apiKey, ref, {
    snapshotSeq: stored.snapshotSeq,
    seq: snapshotSeq,
    snapshot,
  })
  if (!isStored) throw new Error(`The snapshot of ${documentId} was not stored.`)
  await database.write(async (db) => {
    const rows = tail.map((bytes, index) => ({
      ...key,
      seq: snapshotSeq + index + 1,
      bytes,
      user_id: 'reader',
      created_at: stored.createdAt,
    }))
    await db.insertInto('editor_updates').values(rows).execute()
    await db
      .insertInto('editor_clients')
      .values({ ...key, client_id: doc.clientID, user_id: 'reader' })
      .execute()
  })
}

async function copyDocument(rows: Rows, { apiKey }: Tenant, writer: number): Promise<void> {
  const which = { api_key: apiKey, document_id: documentIdOf(writer, 'first') }
  const document_id = sql`${documentIdOf(writer, '')} || i`
  const tables = ['documents', 'editors', 'editor_snapshots', 'editor_updates', 'editor_clients'] as const
  for (const table of tables) await rows.copy(table, which, { document_id }, editorCopies)
  const { parts } = await rows.find('editor_snapshots', which)
  if (Number(parts) > 1) await rows.copy('editor_snapshot_parts', which, { document_id }, editorCopies)
}

export const versions: Kind = {
  name: 'versions',
  // An editor has at most 1,000 versions. The others leave room for the versions that the case adds.
  maxCount: 900,
  async prepare({ apiKey, client }) {
    const editor = { organizationId, documentId: 'doc', editorId }
    await client.crdt.add({ ...editor, type: 'text', data: 'x'.repeat(shortLength) })
    for (const name of ['first', 'second']) {
      await client.crdtVersions.add({ ...editor, name, userId: 'reader' })
    }
    const { nextPageToken, data } = await client.crdtVersions.get({ ...editor, pageSize: 1 })
    const versionId = data[0]?.versionId ?? ''
    return {
      async fill(rows, count) {
        const which = { api_key: apiKey, version_id: versionId }
        const version_id = sql`'ver_' || ${rows.id}`
        const created_at = around('created_at', count - 2)
        await rows.copy('editor_versions', which, { version_id, created_at }, count - 2)
        await rows.copy('editor_version_authors', which, { version_id }, count - 2)
      },
      cases(server, count) {
        const path = '/v2/crdt/versions/get'
        return [
          restCase(server, {
            title: 'read one by id',
            path,
            data: () => ({ ...editor, versionId: `ver_${randomIdOf(count - 2)}` }),
            minItems: 1,
          }),
          restCase(server, {
            title: 'first page',
            path,
            data: () => ({ ...editor, pageSize }),
            minItems: pageSize,
          }),
          restCase(server, {
            title: 'page in the middle',
            path,
            data: () => ({ ...editor, pageSize, pageToken: nextPageToken }),
            minItems: pageSize,
          }),
          restCase(server, {
            title: 'add one',
            path: '/v2/crdt/versions/add',
            maxRequests: 3,
            data: (n) => ({ ...editor, name: `Version ${n}` }),
          }),
        ]
      },
    }
  },
}
