import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId } from './calls.ts'

describe.each(stores)('isolation of folders on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all } = folderCalls(server)

  test('[0.2.1] two API keys, and two organizations of one key, have separate folders', async () => {
    const [mine, other] = [await tenantWithOrganization(), await tenantWithOrganization()]
    await given.organization(mine, 'o2')
    await add(mine, chain(2))
    await mine.client.folders.add({
      organizationId: 'o2',
      folders: [{ folderId: 'f1', folderName: 'Second' }],
    })
    expect((await other.client.folders.get({ organizationId })).data).toEqual([])
    await add(other, [{ folderId: 'f1', folderName: 'Theirs' }])
    const before = await all(mine)

    await other.client.folders.update({ organizationId, folders: [{ folderId: 'f1', folderName: 'x' }] })
    await other.client.folders.updateAccess({ organizationId, folderIds: ['f1'], accessType: 'restricted' })
    expect((await add(other, [{ folderId: 'c', parentFolderId: 'f2' }])).data.c?.success).toBe(false)
    await mine.client.folders.delete({ organizationId: 'o2', folderId: 'f1' })
    await other.client.folders.delete({ organizationId, folderId: 'f1' })
    expect(await all(mine)).toEqual(before)
  })
})
