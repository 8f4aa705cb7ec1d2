import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { converged, eventually, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/user-tokens.ts'

describe.each(stores)('owners of Yjs client ids on %s', (store) => {
  const server = useServer(store)
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
})
