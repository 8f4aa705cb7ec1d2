import type { Folder } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId, outline, refused } from './calls.ts'

describe.each(stores)('folders.get on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, post } = folderCalls(server)

  test('[4.3] get without folderId returns all folders of the organization as a flat list', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [
      { folderId: 'f1', folderName: 'Folder 1', accessType: 'restricted' },
      { folderId: 'c1', parentFolderId: 'f1' },
      { folderId: 'g1', parentFolderId: 'c1', accessType: 'public' },
    ])
    const common = {
      organizationId,
      apiKey: tenant.apiKey,
      createdAt: expect.any(Number),
      lastUpdated: expect.any(Number),
    }
    const answer = await tenant.client.folders.get({ organizationId })
    expect(answer).toEqual({
      message: 'Folders retrieved successfully.',
      data: expect.arrayContaining([
        {
          ...common,
          folderId: 'f1',
          folderName: 'Folder 1',
          parentFolderId: 'root',
          ancestors: ['root'],
          accessType: 'restricted',
          inheritAccessFromParent: false,
        },
        {
          ...common,
          folderId: 'c1',
          folderName: 'c1',
          parentFolderId: 'f1',
          ancestors: ['root', 'f1'],
          accessType: 'restricted',
          inheritAccessFromParent: true,
        },
        {
          ...common,
          folderId: 'g1',
          folderName: 'g1',
          parentFolderId: 'c1',
          ancestors: ['root', 'f1', 'c1'],
          accessType: 'public',
          inheritAccessFromParent: false,
        },
      ]),
    })
    expect(answer.data).toHaveLength(3)
    expect(String(answer.data[0]?.createdAt)).toMatch(/^\d{13}$/)
  })

  test('[4.3] get with folderId returns the folder with its direct children, and a leaf without subFolders', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [...chain(4), { folderId: 'leaf', parentFolderId: 'f1' }, { folderId: 'other' }])
    const answer = await tenant.client.folders.get({ organizationId, folderId: 'f1' })
    expect(answer.message).toBe('Folder(s) retrieved successfully.')
    expect(outline(answer.data)).toEqual([{ f1: ['f2', 'leaf'] }])
    expect(answer.data[0]?.subFolders?.[0]).toEqual({
      folderId: 'f2',
      folderName: 'f2',
      organizationId,
      parentFolderId: 'f1',
      apiKey: tenant.apiKey,
      createdAt: expect.any(Number),
      lastUpdated: expect.any(Number),
      ancestors: ['root', 'f1'],
      accessType: 'public',
      inheritAccessFromParent: true,
    })
    const leaf = await tenant.client.folders.get({ organizationId, folderId: 'leaf' })
    expect(leaf.message).toBe('Folder(s) retrieved successfully.')
    expect(leaf.data).toHaveLength(1)
    expect(leaf.data[0]).not.toHaveProperty('subFolders')
  })

  test('[4.3] get with maxDepth returns deeper levels, each folder with its ancestors from root', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(5))
    const { data } = await tenant.client.folders.get({ organizationId, folderId: 'f2', maxDepth: 2 })
    expect(outline(data)).toEqual([{ f2: [{ f3: ['f4'] }] }])
    const deepest = data[0]?.subFolders?.[0]?.subFolders?.[0]
    expect(deepest).toMatchObject({
      ancestors: ['root', 'f1', 'f2', 'f3'],
      inheritAccessFromParent: true,
    })
    const deep = await tenant.client.folders.get({ organizationId, folderId: 'f2', maxDepth: 32 })
    expect(outline(deep.data)).toEqual([{ f2: [{ f3: [{ f4: ['f5'] }] }] }])
  })

  test('[0.9] get requires advanced queries to be enabled for the API key', async () => {
    const tenant = await tenantWithOrganization()
    await tenant.client.apiKeyConfig.update({ useAdvancedQueries: false })
    expect(await post(tenant, 'get', { organizationId })).toEqual(
      refused(
        'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
        'FAILED_PRECONDITION',
      ),
    )
  })

  test('[9.2] get with maxDepth or rootFoldersOnly returns the top-level folders, nested to that depth', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [...chain(3), { folderId: 'g1' }, { folderId: 'g2', parentFolderId: 'g1' }])
    const nested = await tenant.client.folders.get({ organizationId, maxDepth: 1 })
    expect(nested.message).toBe('Folder(s) retrieved successfully.')
    expect(outline(nested.data)).toEqual([{ f1: ['f2'] }, { g1: ['g2'] }])
    const deeper = await tenant.client.folders.get({ organizationId, maxDepth: 2, rootFoldersOnly: true })
    expect(outline(deeper.data)).toEqual([{ f1: [{ f2: ['f3'] }] }, { g1: ['g2'] }])
    const roots = await tenant.client.folders.get({ organizationId, rootFoldersOnly: true })
    expect(roots.message).toBe('Folder(s) retrieved successfully.')
    expect(outline(roots.data)).toEqual(['f1', 'g1'])
    const flat = await tenant.client.folders.get({ organizationId, rootFoldersOnly: false })
    expect(flat).toMatchObject({ message: 'Folders retrieved successfully.' })
    expect(flat.data).toHaveLength(5)
  })

  test('[9.2] [0.3.1] [0.3] get refuses an invalid body', async () => {
    const tenant = await tenantWithOrganization()
    const depth = 'maxDepth must be an integer between 1 and 32.'
    const faults: [Record<string, unknown>, string][] = [
      [{}, 'organizationId is required.'],
      [{ organizationId: ' ' }, 'organizationId is required.'],
      [{ organizationId: 1 }, 'organizationId must be a string.'],
      [{ organizationId, folderId: '' }, 'folderId must not be empty.'],
      [{ organizationId, folderId: ' \t' }, 'folderId must not be empty.'],
      [{ organizationId, maxDepth: 0 }, depth],
      [{ organizationId, maxDepth: 33 }, depth],
      [{ organizationId, maxDepth: -1 }, depth],
      [{ organizationId, maxDepth: 1.5 }, 'maxDepth must be an integer.'],
      [{ organizationId, maxDepth: '2' }, 'maxDepth must be an integer.'],
      [{ organizationId, pageSize: 1001 }, 'pageSize must be an integer between 1 and 1000.'],
      [{ organizationId, rootFoldersOnly: 1 }, 'rootFoldersOnly must be a boolean.'],
      [{ organizationId, pageToken: 'x' }, 'Invalid page token.'],
      [{ organizationId, folderId: 'nowhere' }, 'Folder does not exist.'],
      [{ organizationId, folderId: 'root' }, 'Folder does not exist.'],
      [{ organizationId: 'nowhere', folderId: 'f1' }, 'Folder does not exist.'],
    ]
    for (const [data, message] of faults) {
      expect(await post(tenant, 'get', data), message).toEqual(refused(message))
    }
  })

  test('[9.2] get returns no folders for an organization that does not exist', async () => {
    const { client } = await given.tenant(server)
    expect(await client.folders.get({ organizationId: 'nowhere' })).toEqual({
      message: 'Folders retrieved successfully.',
      data: [],
    })
  })

  test('[9.2] [0.1.4] v1 get has the same message with and without folderId, and ignores maxDepth, rootFoldersOnly and pageSize', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(3))
    const v1 = { version: 'v1' } as const
    const folder = await tenant.client.folders.get({ organizationId, folderId: 'f1', maxDepth: 2 }, v1)
    expect(folder.message).toBe('Folders retrieved successfully.')
    expect(outline(folder.data)).toEqual([{ f1: ['f2'] }])
    const every = await tenant.client.folders.get(
      { organizationId, maxDepth: 2, rootFoldersOnly: true, pageSize: 1 },
      v1,
    )
    expect(every).not.toHaveProperty('nextPageToken')
    expect(every.message).toBe('Folders retrieved successfully.')
    expect(every.data.map((one) => one.folderId).sort()).toEqual(['f1', 'f2', 'f3'])
    expect(outline(every.data)).not.toContainEqual(expect.any(Object))
  })

  test('[9.2] [9.2.1] pages contain every folder once, with all its ancestors, also those on other pages', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(12))
    const seen: Folder[] = []
    let pageToken: string | undefined
    do {
      const page = await tenant.client.folders.get({ organizationId, pageSize: 5, pageToken })
      seen.push(...page.data)
      pageToken = page.nextPageToken
    } while (pageToken !== undefined)
    expect(seen).toHaveLength(12)
    const byId = new Map(seen.map((folder) => [folder.folderId, folder]))
    for (const [index, { folderId }] of chain(12).entries()) {
      expect(byId.get(folderId)?.ancestors).toEqual(['root', ...chain(index).map((above) => above.folderId)])
    }
  })

  test('[9.2] get orders folders created at the same time by id, in every form of the call', async () => {
    const tenant = await tenantWithOrganization()
    const ids = Array.from({ length: 300 }, (_, index) => `f${index}`)
    await add(
      tenant,
      ids.map((folderId) => ({ folderId })),
    )
    await add(
      tenant,
      ids.map((id) => ({ folderId: `in ${id}`, parentFolderId: 'f7' })),
    )
    const inner = ids.map((id) => `in ${id}`).sort()
    const idsOf = (folders: Folder[] = []) => folders.map(({ folderId }) => folderId)
    const { folders } = tenant.client
    const tops = (await folders.get({ organizationId, maxDepth: 1 })).data
    expect(idsOf(tops)).toEqual(ids.toSorted())
    expect(idsOf(tops.find(({ folderId }) => folderId === 'f7')?.subFolders)).toEqual(inner)
    const [one] = (await folders.get({ organizationId, folderId: 'f7' })).data
    expect(idsOf(one?.subFolders)).toEqual(inner)
    expect(idsOf(await all(tenant))).toEqual([...ids.toSorted(), ...inner])
  })

  test('[9.2.1] a page of top-level folders contains their subfolders, and a page token is valid only for the same query', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [
      ...['a', 'b', 'c'].map((folderId) => ({ folderId })),
      ...['a', 'b', 'c'].map((id) => ({ folderId: `${id}1`, parentFolderId: id })),
    ])
    const first = await tenant.client.folders.get({ organizationId, maxDepth: 1, pageSize: 2 })
    expect(outline(first.data)).toEqual([{ a: ['a1'] }, { b: ['b1'] }])
    const pageToken = first.nextPageToken ?? ''
    const second = await tenant.client.folders.get({ organizationId, maxDepth: 1, pageSize: 2, pageToken })
    expect(outline(second.data)).toEqual([{ c: ['c1'] }])
    expect(second).not.toHaveProperty('nextPageToken')
    for (const input of [
      { organizationId, maxDepth: 2, pageToken },
      { organizationId, pageToken },
      { organizationId: 'o2', maxDepth: 1, pageToken },
    ]) {
      expect(await post(tenant, 'get', input)).toEqual(refused('Invalid page token.'))
    }
  })
})
