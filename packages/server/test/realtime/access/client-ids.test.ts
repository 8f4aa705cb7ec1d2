import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import {
  anyStore,
  createPostgresDatabase,
  startServer,
  stores,
  useServer,
  type TestServer,
} from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { metric } from '../../support/measures/metrics-page.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { type RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient } from '../../support/clients/raw-clients.ts'
const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const document = { type: 'document', id: 'doc_1', organizationId: 'org_1' } as const

/** A Yjs client id and the updates that it writes. Any client can send them: clients see the ids of all others. */
function yjsAuthor() {
  const doc = new Y.Doc()
  return {
    id: doc.clientID,
    /** Types text and returns the update. */
    type(text: string): Uint8Array {
      const known = Y.encodeStateVector(doc)
      doc.getText('content').insert(0, text)
      return Y.encodeStateAsUpdate(doc, known)
    },
  }
}

async function opened(client: RawClient): Promise<RawClient> {
  expect(await client.opened()).not.toHaveProperty('reason')
  return client
}

describe.each(stores)('ownership of Yjs client ids on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  /** Creates a tenant with a document. `open` opens its editor with a token of a role, `grant` stores a role. */
  async function tenantWithDocument() {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'doc_1')
    const open = async (userId: string, dialect: Dialect, role: 'viewer' | 'editor') => {
      const token = await tokenFor(tenant, userId, { resources: [{ ...document, accessRole: role }] })
      return opened(rawClient(server, dialect, { ...editorRef, token }))
    }
    const grant = (userId: string, accessRole: 'viewer' | 'editor') =>
      tenant.client.permissions.add({ userId, permissions: { resources: [{ ...document, accessRole }] } })
    const content = async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data
    return { open, grant, content }
  }

  describe.each(dialects)('at /%s', (dialect) => {
    test('[R31] [R31.2] an editor can type after a reconnect although a viewer used its Yjs client id in awareness', async () => {
      const { open, content } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const ada = yjsAuthor()
      const before = await open('ada', dialect, 'editor')
      before.sendAwareness(ada.id, 1, { name: 'Ada' })
      await observer.until(() => observer.awarenessOf(ada.id) !== undefined)
      before.terminate()
      await observer.until(() => observer.awarenessOf(ada.id) === undefined)

      const vic = await open('vic', dialect, 'viewer')
      vic.sendAwareness(ada.id, 1_000, { name: 'Vic' })
      await vic.flushed()
      const after = await open('ada', dialect, 'editor')
      expect(await after.update(ada.type('mine'))).toBe('saved')
      expect(await content()).toBe('mine')
      after.sendAwareness(ada.id, 2, { name: 'Ada' })
      await eventually(() => observer.awarenessOf(ada.id)).toEqual({ name: 'Ada' })
      // The viewer cannot take the id back.
      vic.sendAwareness(ada.id, 2_000, { name: 'Vic' })
      vic.sendAwareness(ada.id, 2_000, null)
      await vic.flushed()
      after.sendAwareness(ada.id, 3, { name: 'Ada', cursor: 1 })
      await eventually(() => observer.awarenessOf(ada.id)).toEqual({ name: 'Ada', cursor: 1 })
    })

    test('[R31.1] once a user has written with a Yjs client id, only this user can set its awareness state', async () => {
      const { open } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const ada = yjsAuthor()
      const writer = await open('ada', dialect, 'editor')
      expect(await writer.update(ada.type('mine'))).toBe('saved')
      for (const role of ['viewer', 'editor'] as const) {
        const other = await open(`other-${role}`, dialect, role)
        other.sendAwareness(ada.id, 1_000, { name: 'not Ada' })
        await other.flushed()
      }
      writer.sendAwareness(ada.id, 1, { name: 'Ada' })
      await eventually(() => observer.awarenessOf(ada.id)).toEqual({ name: 'Ada' })
      await eventually(() => writer.awarenessOf(ada.id)).toEqual({ name: 'Ada' })
    })

    test('[R31] nobody else can write first with a Yjs client id that a connected client of an editor uses in awareness', async () => {
      const { open, content } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const ada = yjsAuthor()
      const eve = await open('eve', dialect, 'editor')
      eve.sendAwareness(ada.id, 1_000, { name: 'Eve' })
      await observer.until(() => observer.awarenessOf(ada.id) !== undefined)
      const writer = await open('ada', dialect, 'editor')
      const update = ada.type('mine')
      expect(await writer.update(update)).toBe('refused')
      // As clients do when they close.
      eve.sendAwareness(ada.id, 1_001, null)
      eve.terminate()
      await observer.until(() => observer.awarenessOf(ada.id) === undefined)
      const after = await open('ada', dialect, 'editor')
      expect(await after.update(update)).toBe('saved')
      expect(await content()).toBe('mine')
    })

    test('[R31] nobody else can write first with the Yjs client id of an editor whose connection is lost', async () => {
      const { open, content } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const ada = yjsAuthor()
      const before = await open('ada', dialect, 'editor')
      before.sendAwareness(ada.id, 1, { name: 'Ada' })
      await observer.until(() => observer.awarenessOf(ada.id) !== undefined)
      before.terminate()
      await observer.until(() => observer.awarenessOf(ada.id) === undefined)
      const eve = await open('eve', dialect, 'editor')
      const update = ada.type('mine')
      eve.sendAwareness(ada.id, 9, { name: 'Eve' })
      expect(await eve.update(update)).toBe('refused')
      const after = await open('ada', dialect, 'editor')
      expect(await after.update(update)).toBe('saved')
      expect(await content()).toBe('mine')
    })

    test('[R31.2] another user can take over a Yjs client id once the editor who held it becomes a viewer', async () => {
      const { open, grant } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const ada = yjsAuthor()
      const eve = await open('eve', dialect, 'editor')
      eve.sendAwareness(ada.id, 1_000, { name: 'Eve' })
      await observer.until(() => observer.awarenessOf(ada.id) !== undefined)
      const writer = await open('ada', dialect, 'editor')
      writer.sendAwareness(ada.id, 1, { name: 'Ada' })
      await writer.flushed()
      expect(observer.awarenessOf(ada.id)).toEqual({ name: 'Eve' })
      await grant('eve', 'viewer')
      // Clients repeat their states. A server learns a moment later that a user of another server may not write any more.
      let clock = 2
      const afterRepeating = () => {
        writer.sendAwareness(ada.id, clock++, { name: 'Ada' })
        return observer.awarenessOf(ada.id)
      }
      await eventually(afterRepeating).toEqual({ name: 'Ada' })
    })

    test('[R31.2] a viewer who becomes an editor keeps its Yjs client id and writes with it', async () => {
      const { open, grant, content } = await tenantWithDocument()
      const observer = await open('wit', 'realtime', 'editor')
      const own = yjsAuthor()
      const vic = await open('vic', dialect, 'viewer')
      vic.sendAwareness(own.id, 1, { name: 'Vic' })
      await eventually(() => observer.awarenessOf(own.id)).toEqual({ name: 'Vic' })
      await grant('vic', 'editor')
      expect(await vic.update(own.type('now'))).toBe('saved')
      expect(await content()).toBe('now')
      vic.sendAwareness(own.id, 2, { name: 'Vic', cursor: 1 })
      await eventually(() => observer.awarenessOf(own.id)).toEqual({ name: 'Vic', cursor: 1 })
    })
  })
})

describe('an editor that nobody has open', () => {
  // The server closes it soon.
  const server = useServer(anyStore, { clockSpeed: 20 })

  test('[R31] keeps the Yjs client id of an editor whose connection is lost', async () => {
    const tenant = await given.tenant(server)
    const open = async (userId: string) =>
      opened(rawClient(server, 'yjs', { ...editorRef, token: await tokenFor(tenant, userId) }))
    const ada = yjsAuthor()
    const before = await open('ada')
    before.sendAwareness(ada.id, 1, { name: 'Ada' })
    await before.flushed()
    before.terminate()
    await eventually(() => metric(server, 'plenum_open_editors')).toBe(0)
    const update = ada.type('mine')
    expect(await (await open('eve')).update(update)).toBe('refused')
    expect(await (await open('ada')).update(update)).toBe('saved')
  })
})

test('[R31] a viewer loses a Yjs client id in awareness when the server learns that another user wrote with the id on another server', async () => {
  const databaseUrl = await createPostgresDatabase()
  const data = { dataDir: '/tmp/unused', databaseUrl }
  const servers = await Promise.all([startServer('postgres', { data }), startServer('postgres', { data })])
  const [one, other] = servers
  const tenant = await given.tenant(one)
  await given.document(tenant)
  const open = async (at: TestServer, userId: string, role: 'viewer' | 'editor') =>
    opened(rawClient(at, 'yjs', { ...editorRef, token: await tokenFor(tenant, userId, { role }) }))
  const ada = yjsAuthor()
  // An editor creates the document.
  const observer = await open(other, 'wit', 'editor')
  const vic = await open(other, 'vic', 'viewer')
  vic.sendAwareness(ada.id, 1_000, { name: 'Vic' })
  await observer.until(() => observer.awarenessOf(ada.id) !== undefined)
  expect(await (await open(one, 'ada', 'editor')).update(ada.type('one '))).toBe('saved')
  // The other server reads the stored update, and with it the owner of the id.
  await eventually(() => observer.awarenessOf(ada.id)).toBeUndefined()
  const moved = await open(other, 'ada', 'editor')
  expect(await moved.update(ada.type('two '))).toBe('saved')
  moved.sendAwareness(ada.id, 1, { name: 'Ada' })
  await eventually(() => observer.awarenessOf(ada.id)).toEqual({ name: 'Ada' })
  await Promise.all(servers.map((server) => server.stop()))
})
