import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId, refused } from './calls.ts'

describe.each(stores)('folders.add on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, one, post } = folderCalls(server)

  test('[9.1] add returns a result for each folder, and a parent may precede its child in the same call', async () => {
    const tenant = await tenantWithOrganization()
    expect(await add(tenant, [{ folderId: 'f1' }, { folderId: 'c1', parentFolderId: 'f1' }])).toEqual({
      message: 'Folder created successfully.',
      data: {
        f1: { success: true, id: 'f1', message: 'Folder added.' },
        c1: { success: true, id: 'c1', message: 'Folder added.' },
      },
    })
    expect(await one(tenant, 'c1')).toMatchObject({ folderName: 'c1', ancestors: ['root', 'f1'] })
  })

  test('[9.1] add reports the folders that could not be added, and adds the others', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [{ folderId: 'old', folderName: 'Old' }])
    const { data } = await add(tenant, [
      { folderId: 'old', folderName: 'New' },
      { folderId: 'late', parentFolderId: 'new' },
      { folderId: 'new', folderName: 'First' },
      { folderId: 'new', folderName: 'Second' },
      { folderId: 'own', parentFolderId: 'own' },
    ])
    expect(data).toEqual({
      old: { success: false, id: 'old', message: 'Folder already exists.' },
      late: { success: false, id: 'late', message: 'Parent folder does not exist.' },
      new: { success: true, id: 'new', message: 'Folder added.' },
      own: { success: false, id: 'own', message: 'Parent folder does not exist.' },
    })
    expect((await all(tenant)).map((folder) => folder.folderName).sort()).toEqual(['First', 'Old'])
  })

  test('[9.1] add accepts folders up to 32 levels deep', async () => {
    const tenant = await tenantWithOrganization()
    const { data } = await add(tenant, chain(34))
    expect(data.f32).toEqual({ success: true, id: 'f32', message: 'Folder added.' })
    expect(data.f33).toEqual({ success: false, id: 'f33', message: 'Folder nesting is too deep.' })
    expect(data.f34).toEqual({ success: false, id: 'f34', message: 'Parent folder does not exist.' })
    expect((await one(tenant, 'f32'))?.ancestors).toHaveLength(32)
    expect((await add(tenant, [{ folderId: 'x', parentFolderId: 'f32' }])).data.x?.message).toBe(
      'Folder nesting is too deep.',
    )
  })

  test('[9.1] [0.8] add requires the organization unless createOrganization is set', async () => {
    const tenant = await given.tenant(server)
    const folders = [{ folderId: 'f1' }]
    expect(await post(tenant, 'add', { organizationId, folders })).toEqual(
      refused('Organization does not exist.'),
    )
    expect((await tenant.client.organizations.get()).data).toEqual([])
    await tenant.client.folders.add({ organizationId, createOrganization: true, folders })
    expect((await tenant.client.organizations.get()).data).toMatchObject([{ id: organizationId }])
    expect(await one(tenant, 'f1')).toMatchObject({ parentFolderId: 'root' })
  })

  test('[9.1] v1 add answers like v2 and accepts createOrganization and accessType', async () => {
    const tenant = await given.tenant(server)
    const folders = [{ folderId: 'f1', accessType: 'restricted' as const }]
    expect(
      await tenant.client.folders.add(
        { organizationId, createOrganization: true, folders },
        { version: 'v1' },
      ),
    ).toEqual({
      message: 'Folder created successfully.',
      data: { f1: { success: true, id: 'f1', message: 'Folder added.' } },
    })
    expect(await one(tenant, 'f1')).toMatchObject({ accessType: 'restricted' })
  })

  test('[9.1] [0.3] add refuses an invalid body and adds nothing', async () => {
    const tenant = await tenantWithOrganization()
    const reserved = 'must not contain control characters and must not be ".", ".." or "root".'
    const faults: [Record<string, unknown>, string][] = [
      [{ folders: [{ folderId: 'f1' }] }, 'organizationId is required.'],
      [{ organizationId }, 'folders is required.'],
      [{ organizationId, folders: [] }, 'folders must not be empty.'],
      [{ organizationId, folders: {} }, 'folders must be an array.'],
      [
        { organizationId, folders: Array.from({ length: 501 }, (_, index) => ({ folderId: `f${index}` })) },
        'folders must have at most 500 items.',
      ],
      [{ organizationId, folders: [{ folderId: 'f1' }, {}] }, 'folders[1].folderId is required.'],
      [{ organizationId, folders: [{ folderId: ' ' }] }, 'folders[0].folderId is required.'],
      [{ organizationId, folders: [{ folderId: 'root' }] }, `folders[0].folderId ${reserved}`],
      [{ organizationId, folders: [{ folderId: 'a\nb' }] }, `folders[0].folderId ${reserved}`],
      [
        { organizationId, folders: [{ folderId: 'f'.repeat(257) }] },
        'folders[0].folderId must have at most 256 characters.',
      ],
      [
        { organizationId, folders: [{ folderId: 'f1', folderName: 1 }] },
        'folders[0].folderName must be a string.',
      ],
      [
        { organizationId, folders: [{ folderId: 'f1', accessType: 'private' }] },
        'folders[0].accessType must be one of: public, restricted, organizationPrivate.',
      ],
      [
        { organizationId, createOrganization: 'yes', folders: [{ folderId: 'f1' }] },
        'createOrganization must be a boolean.',
      ],
    ]
    for (const [data, message] of faults) {
      expect(await post(tenant, 'add', data), message).toEqual(refused(message))
    }
    expect(await all(tenant)).toEqual([])
  })

  test('[9.1] if several concurrent calls add the same folder, one adds it and the others report that it exists', async () => {
    const tenant = await tenantWithOrganization()
    const answers = await Promise.all([1, 2, 3].map(() => add(tenant, [{ folderId: 'f1' }])))
    expect(answers.map(({ data }) => data.f1?.message).sort()).toEqual([
      'Folder added.',
      'Folder already exists.',
      'Folder already exists.',
    ])
  })

  test('[9.1] [0.7.5] add accepts 500 folders in one call, also with unusual ids', async () => {
    const tenant = await tenantWithOrganization()
    const ids = [
      '__proto__',
      'constructor',
      'ünï 😀',
      ...Array.from({ length: 497 }, (_, index) => `f${index}`),
    ]
    const { data } = await add(
      tenant,
      ids.map((folderId) => ({ folderId, parentFolderId: folderId === 'f496' ? '__proto__' : 'root' })),
    )
    expect(Object.keys(data).sort()).toEqual([...ids].sort())
    expect(Object.values(data).every((outcome) => outcome.success)).toBe(true)
    expect((await all(tenant)).map((folder) => folder.folderId).sort()).toEqual([...ids].sort())
    expect((await one(tenant, 'f496'))?.ancestors).toEqual(['root', '__proto__'])
  })

  test('[9.1] a top-level folder without its own access type has the default of the API key, and its subfolder inherits it', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [{ folderId: 'f1' }, { folderId: 'c1', parentFolderId: 'f1' }])
    await tenant.client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    expect(await one(tenant, 'f1')).toMatchObject({
      accessType: 'organizationPrivate',
      inheritAccessFromParent: false,
    })
    expect(await one(tenant, 'c1')).toMatchObject({
      accessType: 'organizationPrivate',
      inheritAccessFromParent: true,
    })
  })
})
