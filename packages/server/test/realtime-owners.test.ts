import { describe, expect, test } from 'vitest'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'
import { converged, eventually, synced, tokenFor, yjsClient } from './live.ts'

describe.each(stores)('client ids on %s', (store) => {
  const server = useServer(store)
  const organizationId = 'org_1'

  test('[R8] belong to their users in an editor that was moved to where others wait for it', async () => {
    const tenant = await given.tenant(server)
    const [adas, bobs] = [await tokenFor(tenant), await tokenFor(tenant, 'bob')]
    const ada = yjsClient(server, adas, { name: 'org_1/old/note' })
    await synced(ada)
    ada.text.insert(0, 'from ada')
    const bob = yjsClient(server, bobs, { name: 'org_1/new/note' })
    await synced(bob)
    const stored = () => server.database.read.selectFrom('editors').select('document_id').execute()
    await eventually(stored).toHaveLength(1)
    ada.provider.destroy()
    await tenant.client.documents.migrate({ organizationId, documentId: 'old', newDocumentId: 'new' })
    await eventually(() => bob.text.toString()).toBe('from ada')

    bob.doc.clientID = ada.doc.clientID
    bob.text.insert(0, 'not ')
    const back = yjsClient(server, adas, { name: 'org_1/new/note', doc: ada.doc })
    await synced(back)
    back.text.insert(0, 'really ')
    const carol = yjsClient(server, await tokenFor(tenant, 'carol'), { name: 'org_1/new/note' })
    await synced(carol)
    await eventually(() => carol.text.toString()).toBe('really from ada')
    await converged(back.doc, carol.doc)
    const { data } = await tenant.client.crdt.get({ organizationId, documentId: 'new' })
    expect(data[0]?.data).toBe('really from ada')
  })
})
