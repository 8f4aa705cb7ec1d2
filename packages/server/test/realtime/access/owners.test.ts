import { describe, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { converged, eventually, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { type Dialect, rawClient } from '../../support/clients/raw-clients.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe.each(stores)('owners of Yjs client ids on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const organizationId = 'org_1'

  test('[R8.5] Yjs client ids keep their owners when their editor is migrated into a document that another user has open', async () => {
    const tenant = await given.tenant(server)
    const open = async (userId: string, documentId: string, doc = new Y.Doc()) => {
      const client = yjsClient(server, await tokenFor(tenant, userId), {
        name: `org_1/${documentId}/note`,
        doc,
      })
      await synced(client)
      return client
    }
    const ada = await open('ada', 'old')
    const bob = await open('bob', 'new')
    ada.text.insert(0, 'from ada')
    const stored = () => server.database.read.selectFrom('editors').select('document_id').execute()
    await eventually(stored).toHaveLength(1)
    ada.provider.destroy()
    await tenant.client.documents.migrate({ organizationId, documentId: 'old', newDocumentId: 'new' })
    await eventually(() => bob.text.toString()).toBe('from ada')

    const own = bob.doc.clientID
    bob.doc.clientID = ada.doc.clientID
    bob.text.insert(0, 'not ')
    bob.doc.clientID = own
    bob.doc.getMap('seen').set('all of it', true)
    const carol = await open('carol', 'new')
    await eventually(() => carol.doc.getMap('seen').size).toBe(1)
    expect(carol.text.toString()).toBe('from ada')
    const back = await open('ada', 'new', ada.doc)
    back.text.insert(0, 'really ')
    await eventually(() => carol.text.toString()).toBe('really from ada')
    await converged(back.doc, carol.doc)
  })

  describe('deletions of items that only another client has', () => {
    const editorRef = { organizationId, documentId: 'doc_1', editorId: 'note' }

    /** Bob's document has a word that he has not sent. Ada got it from him directly, and has deleted it. */
    async function withDeletedWord(dialect: Dialect, server: TestServer) {
      const tenant = await given.tenant(server)
      const open = async (userId: string) =>
        rawClient(server, dialect, { ...editorRef, token: await tokenFor(tenant, userId) })
      const [ada, bob] = await Promise.all([open('ada'), open('bob')])
      const [adas, bobs] = [new Y.Doc(), new Y.Doc()]
      bobs.getText('content').insert(0, 'sent ')
      expect(await bob.update(Y.encodeStateAsUpdate(bobs))).toBe('saved')
      const known = Y.encodeStateVector(bobs)
      bobs.getText('content').insert(5, 'unsent ')
      const word = Y.encodeStateAsUpdate(bobs, known)
      Y.applyUpdate(adas, Y.encodeStateAsUpdate(bobs))
      adas.getText('content').delete(5, 7)
      adas.getText('content').insert(0, 'Ada ')
      const content = async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data
      return {
        tenant,
        ada,
        bob,
        word,
        content,
        /** Everything that Ada's document has and a server with the state vector lacks. */
        missingAt: (stateVector: Uint8Array | undefined) => Y.encodeStateAsUpdate(adas, stateVector ?? known),
      }
    }

    test.each(['hocuspocus', 'realtime'] as const)(
      '[R8.7] a deletion is stored when the deleted item arrives from its own client, before the update is acknowledged (%s)',
      async (dialect) => {
        // The deletion waits for 2 s of this clock, which are 20 s here: enough for a slow machine.
        const slow = await startServer(store, { clockSpeed: 0.1 })
        onTestFinished(() => slow.stop())
        const { ada, bob, word, content, missingAt } = await withDeletedWord(dialect, slow)
        const saved = ada.update(missingAt(undefined))
        await eventually(content).toBe('Ada sent ')
        expect(await bob.update(word)).toBe('saved')
        expect(await saved).toBe('saved')
        expect(await content()).toBe('Ada sent ')
      },
    )

    test.each(['hocuspocus', 'realtime'] as const)(
      '[R8.7] [R32.1] an update of a user who becomes a viewer while its deletion waits is refused, not acknowledged without the deletion (%s)',
      async (dialect) => {
        const { tenant, ada, bob, word, content, missingAt } = await withDeletedWord(dialect, server)
        const outcome = ada.update(missingAt(undefined))
        await eventually(content).toBe('Ada sent ')
        const resource = { type: 'document', id: 'doc_1', organizationId, accessRole: 'viewer' } as const
        await tenant.client.permissions.add({ userId: 'ada', permissions: { resources: [resource] } })
        await ada.until(() => ada.roles.at(-1) === 'viewer')
        expect(await bob.update(word)).toBe('saved')
        expect(await outcome).toBe('refused')
        expect(await content()).toContain('unsent')
      },
    )

    test('[R8.7] if the deleted item arrives late, the update is acknowledged without the deletion, and the client is asked for it later', async () => {
      const { ada, bob, word, content, missingAt } = await withDeletedWord('realtime', server)
      expect(await ada.update(missingAt(undefined))).toBe('saved')
      expect(await content()).toBe('Ada sent ')
      const requests = ada.stateVectors.length
      expect(await bob.update(word)).toBe('saved')
      expect(await content()).toContain('unsent')
      await ada.until(() => ada.stateVectors.length > requests)
      expect(await ada.syncStep2(missingAt(ada.stateVectors.at(-1)))).toBe('saved')
      expect(await content()).toBe('Ada sent ')
    })
  })
})
