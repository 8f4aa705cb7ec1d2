import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, organizationId, v1 } from './calls.ts'

describe.each(stores)('isolation of documents on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, addFolders, all } = documentCalls(server)

  test('[0.2.1] two API keys, and two organizations of one key, have separate documents', async () => {
    const [mine, other] = [await tenantWithOrganization(), await tenantWithOrganization()]
    await given.organization(mine, 'o2')
    await addFolders(mine, [{ folderId: 'f1' }])
    await add(mine, ['d1'], 'f1')
    const before = await all(mine)
    expect(await all(other)).toEqual([])

    const theirs = [
      { client: other.client, organizationId },
      { client: mine.client, organizationId: 'o2' },
    ]
    for (const { client, organizationId } of theirs) {
      await client.documents.update({ organizationId, documents: [{ documentId: 'd1', a: 1 }] }, v1)
      await client.documents.updateAccess({ organizationId, documentIds: ['d1'], accessType: 'restricted' })
      await client.documents.updateDisableState({ organizationId, documentIds: ['d1'], disabled: true })
      await client.documents.delete({ organizationId, documentIds: ['d1'] }, v1)
      await client.documents.add({ organizationId, documents: [{ documentId: 'd1' }] })
      await expect(
        client.documents.move({ organizationId, documentIds: ['d1'], folderId: 'f1' }),
      ).rejects.toMatchObject({ message: 'Folder does not exist.' })
      await expect(
        client.documents.add({ organizationId, folderId: 'f1', documents: [{ documentId: 'd2' }] }),
      ).rejects.toMatchObject({ message: 'Folder does not exist.' })
    }
    expect(await all(mine)).toEqual(before)
  })
})
