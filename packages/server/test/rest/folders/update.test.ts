import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId, refused } from './calls.ts'

describe.each(stores)('folders.update on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithOrganization, add, all, one, post } = folderCalls(server)

  test('[9.3] update renames a folder and keeps its parent', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(2))
    const before = await one(tenant, 'f2')
    server.clock.offsetMs += 1000
    expect(
      await tenant.client.folders.update({
        organizationId,
        folders: [{ folderId: 'f2', folderName: 'Renamed' }],
      }),
    ).toEqual({
      message: 'Folder Updated successfully.',
      data: { f2: { success: true, id: 'f2', message: 'Folder Updated.' } },
    })
    const after = await one(tenant, 'f2')
    expect(after).toEqual({ ...before, folderName: 'Renamed', lastUpdated: expect.any(Number) })
    expect(after?.lastUpdated).toBeGreaterThan(before?.lastUpdated ?? Infinity)
  })

  test('[9.3] a moved folder keeps its contents, and inheriting folders and documents follow the new parent', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [
      { folderId: 'open', accessType: 'public' },
      { folderId: 'shut', accessType: 'restricted' },
      { folderId: 'moved', parentFolderId: 'open' },
      { folderId: 'inner', parentFolderId: 'moved' },
      { folderId: 'own', parentFolderId: 'moved', accessType: 'organizationPrivate' },
    ])
    await tenant.client.documents.add({
      organizationId,
      folderId: 'inner',
      documents: [{ documentId: 'd1' }],
    })
    await tenant.client.folders.update({
      organizationId,
      folders: [{ folderId: 'moved', parentFolderId: 'shut' }],
    })
    expect(await one(tenant, 'moved')).toMatchObject({
      parentFolderId: 'shut',
      folderName: 'moved',
      ancestors: ['root', 'shut'],
      accessType: 'restricted',
      inheritAccessFromParent: true,
    })
    expect(await one(tenant, 'inner')).toMatchObject({
      ancestors: ['root', 'shut', 'moved'],
      accessType: 'restricted',
    })
    expect(await one(tenant, 'own')).toMatchObject({
      ancestors: ['root', 'shut', 'moved'],
      accessType: 'organizationPrivate',
    })
    const { data } = await tenant.client.documents.get({ organizationId })
    expect(data).toMatchObject([{ id: 'd1', folderId: 'inner', accessType: 'restricted' }])

    await tenant.client.folders.update({
      organizationId,
      folders: [{ folderId: 'moved', parentFolderId: 'root' }],
    })
    expect(await one(tenant, 'moved')).toMatchObject({
      parentFolderId: 'root',
      ancestors: ['root'],
      accessType: 'public',
      inheritAccessFromParent: false,
    })
  })

  test('[9.3] update reports the folders that could not be changed, and changes the others', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [...chain(3), { folderId: 'free' }])
    const { data } = await tenant.client.folders.update({
      organizationId,
      folders: [
        { folderId: 'nowhere', folderName: 'x' },
        { folderId: 'root', folderName: 'x' },
        { folderId: 'f1', parentFolderId: 'f3', folderName: 'x' },
        { folderId: 'f2', parentFolderId: 'f2' },
        { folderId: 'f3', parentFolderId: 'nowhere' },
        { folderId: 'free', parentFolderId: 'f3' },
        { folderId: 'free', parentFolderId: 'root' },
      ],
    })
    const itself = 'Folder cannot be moved into itself.'
    expect(data).toEqual({
      nowhere: { success: false, id: 'nowhere', message: 'Folder does not exist.' },
      root: { success: false, id: 'root', message: 'Folder does not exist.' },
      f1: { success: false, id: 'f1', message: itself },
      f2: { success: false, id: 'f2', message: itself },
      f3: { success: false, id: 'f3', message: 'Parent folder does not exist.' },
      free: { success: true, id: 'free', message: 'Folder Updated.' },
    })
    expect(await one(tenant, 'f1')).toMatchObject({ folderName: 'f1', parentFolderId: 'root' })
    expect(await one(tenant, 'free')).toMatchObject({ ancestors: ['root', 'f1', 'f2', 'f3'] })
  })

  test('[9.3] update applies moves in the order of the request', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(2))
    const { data } = await tenant.client.folders.update({
      organizationId,
      folders: [
        { folderId: 'f2', parentFolderId: 'root' },
        { folderId: 'f1', parentFolderId: 'f2' },
      ],
    })
    expect(Object.values(data).map((outcome) => outcome.success)).toEqual([true, true])
    expect(await one(tenant, 'f1')).toMatchObject({ ancestors: ['root', 'f2'] })
  })

  test('[9.1] [9.3] the limit of 32 levels includes the levels below a moved folder', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [...chain(30), { folderId: 'a' }, { folderId: 'b', parentFolderId: 'a' }])
    const move = async (parentFolderId: string) =>
      (await tenant.client.folders.update({ organizationId, folders: [{ folderId: 'a', parentFolderId }] }))
        .data.a?.message
    expect(await move('f30')).toBe('Folder Updated.')
    expect((await one(tenant, 'b'))?.ancestors).toHaveLength(32)
    await add(tenant, [{ folderId: 'x', parentFolderId: 'f30' }])
    expect(await move('x')).toBe('Folder nesting is too deep.')
    expect(await one(tenant, 'a')).toMatchObject({ parentFolderId: 'f30' })
  })

  test('[9.3] two concurrent moves of folders into each other never form a cycle', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [{ folderId: 'a' }, { folderId: 'b' }])
    const moves = [
      { folderId: 'a', parentFolderId: 'b' },
      { folderId: 'b', parentFolderId: 'a' },
    ]
    const answers = await Promise.all(
      moves.map((move) => tenant.client.folders.update({ organizationId, folders: [move] })),
    )
    const messages = answers.flatMap(({ data }) => Object.values(data).map((outcome) => outcome.message))
    expect(messages.sort()).toEqual(['Folder Updated.', 'Folder cannot be moved into itself.'])
    expect((await all(tenant)).filter((folder) => folder.parentFolderId === 'root')).toHaveLength(1)
  })

  test('[9.1] [9.3] a concurrent move and add below the moved folder never exceed the limit of 32 levels together', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(30))
    const rounds = Array.from({ length: 10 }, (_, round) => round)
    for (const round of rounds) {
      const [a, b, c] = [`a${round}`, `b${round}`, `c${round}`]
      await add(tenant, [{ folderId: a }, { folderId: b, parentFolderId: a }])
      const [moved, added] = await Promise.all([
        tenant.client.folders.update({
          organizationId,
          folders: [{ folderId: a, parentFolderId: 'f30' }],
        }),
        add(tenant, [{ folderId: c, parentFolderId: b }]),
      ])
      const messages = [moved.data[a]?.message, added.data[c]?.message]
      expect(messages).toContain('Folder nesting is too deep.')
      expect(messages.filter((message) => message === 'Folder nesting is too deep.')).toHaveLength(1)
    }
    // The ancestors include `root`.
    for (const { ancestors } of await all(tenant)) expect(ancestors?.length).toBeLessThanOrEqual(32)
  })

  test('[9.3] v1 update answers like v2', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(1))
    expect(
      await tenant.client.folders.update(
        { organizationId, folders: [{ folderId: 'f1' }, { folderId: 'f2' }] },
        { version: 'v1' },
      ),
    ).toEqual({
      message: 'Folder Updated successfully.',
      data: {
        f1: { success: true, id: 'f1', message: 'Folder Updated.' },
        f2: { success: false, id: 'f2', message: 'Folder does not exist.' },
      },
    })
  })

  test('[9.3] [0.3] update refuses an invalid body and changes nothing', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(2))
    const before = await all(tenant)
    const faults: [Record<string, unknown>, string][] = [
      [{ folders: [{ folderId: 'f1' }] }, 'organizationId is required.'],
      [{ organizationId }, 'folders is required.'],
      [{ organizationId, folders: [] }, 'folders must not be empty.'],
      [
        { organizationId, folders: Array.from({ length: 501 }, () => ({ folderId: 'f1' })) },
        'folders must have at most 500 items.',
      ],
      [
        { organizationId, folders: [{ folderId: 'f1', folderName: 'x' }, { folderName: 'y' }] },
        'folders[1].folderId is required.',
      ],
      [
        { organizationId, folders: [{ folderId: 'f2', parentFolderId: null }] },
        'folders[0].parentFolderId must be a string.',
      ],
    ]
    for (const [data, message] of faults) {
      expect(await post(tenant, 'update', data), message).toEqual(refused(message))
    }
    expect(await all(tenant)).toEqual(before)
  })
})
