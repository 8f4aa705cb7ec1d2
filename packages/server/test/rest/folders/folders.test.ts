import type { Folder } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const refused = (message: string, status = 'INVALID_ARGUMENT', httpStatus = 400) => ({
  status: httpStatus,
  body: { error: { status, message } },
})

/** `f1` at the top, `f2` in it and so on. */
const line = (length: number) =>
  Array.from({ length }, (_, index) => ({
    folderId: `f${index + 1}`,
    parentFolderId: index === 0 ? 'root' : `f${index}`,
  }))

describe.each(stores)('folders on %s', (store) => {
  const server = useServer(store)
  const organizationId = 'o1'

  const tenantWithOrganization = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return tenant
  }
  const add = ({ client }: given.Tenant, folders: Parameters<typeof client.folders.add>[0]['folders']) =>
    client.folders.add({ organizationId, folders })
  const all = async ({ client }: given.Tenant) => (await client.folders.get({ organizationId })).data
  const one = async (tenant: given.Tenant, folderId: string) =>
    (await all(tenant)).find((folder) => folder.folderId === folderId)
  const post = async ({ headers }: given.Tenant, verb: string, data: unknown, version = 'v2') => {
    const { status, body } = await server.post(`/${version}/organizations/folders/${verb}`, { data }, headers)
    return { status, body }
  }
  /** Ids with what is nested in them. */
  const outline = (folders: Folder[]): unknown[] =>
    folders.map(({ folderId, subFolders }) => (subFolders ? { [folderId]: outline(subFolders) } : folderId))
  describe('get', () => {
    test('[4.3] without folderId returns all folders of the organization as a flat list', async () => {
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

    test('[4.3] with folderId returns the folder with its direct children, and leaves without subFolders', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [...line(4), { folderId: 'leaf', parentFolderId: 'f1' }, { folderId: 'other' }])
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

    test('[4.3] maxDepth returns deeper levels, each with its ancestors from root', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(5))
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

    test('[4.3] needs the advanced queries of the API key', async () => {
      const tenant = await tenantWithOrganization()
      await tenant.client.apiKeyConfig.update({ useAdvancedQueries: false })
      expect(await post(tenant, 'get', { organizationId })).toEqual(
        refused(
          'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
          'FAILED_PRECONDITION',
        ),
      )
    })

    test('[9.2] with maxDepth or rootFoldersOnly the top-level folders are returned, nested to that depth', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [...line(3), { folderId: 'g1' }, { folderId: 'g2', parentFolderId: 'g1' }])
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

    test('[9.2] [0.3.1] refuses what has the wrong shape', async () => {
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

    test('[9.2] an organization that does not exist has no folders', async () => {
      const { client } = await given.tenant(server)
      expect(await client.folders.get({ organizationId: 'nowhere' })).toEqual({
        message: 'Folders retrieved successfully.',
        data: [],
      })
    })

    test('[9.2] v1 says the same of one folder and of all, and knows neither maxDepth nor pages', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(3))
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

    test('[9.2] [9.2.1] pages lead through every folder once, with the ancestors that stand on other pages', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(12))
      const seen: Folder[] = []
      let pageToken: string | undefined
      do {
        const page = await tenant.client.folders.get({ organizationId, pageSize: 5, pageToken })
        seen.push(...page.data)
        pageToken = page.nextPageToken
      } while (pageToken !== undefined)
      expect(seen).toHaveLength(12)
      const byId = new Map(seen.map((folder) => [folder.folderId, folder]))
      for (const [index, { folderId }] of line(12).entries()) {
        expect(byId.get(folderId)?.ancestors).toEqual(['root', ...line(index).map((above) => above.folderId)])
      }
    })

    test('[9.2] folders of one moment come by id, however they are asked for', async () => {
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

    test('[9.2.1] pages of top-level folders are nested, and their tokens fit no other question', async () => {
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

  describe('add', () => {
    test('[9.1] answers per folder; a parent may come earlier in the same call', async () => {
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

    test('[9.1] tells which folders could not be added, and adds the others', async () => {
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

    test('[9.1] folders nest 32 levels deep', async () => {
      const tenant = await tenantWithOrganization()
      const { data } = await add(tenant, line(34))
      expect(data.f32).toEqual({ success: true, id: 'f32', message: 'Folder added.' })
      expect(data.f33).toEqual({ success: false, id: 'f33', message: 'Folder nesting is too deep.' })
      expect(data.f34).toEqual({ success: false, id: 'f34', message: 'Parent folder does not exist.' })
      expect((await one(tenant, 'f32'))?.ancestors).toHaveLength(32)
      expect((await add(tenant, [{ folderId: 'x', parentFolderId: 'f32' }])).data.x?.message).toBe(
        'Folder nesting is too deep.',
      )
    })

    test('[9.1] needs the organization, unless it may be created', async () => {
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

    test('[9.1] v1 answers the same and takes the newer fields', async () => {
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

    test('[9.1] refuses what has the wrong shape and adds nothing', async () => {
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

    test('[9.1] of two calls that add the same folder at once one finds it there', async () => {
      const tenant = await tenantWithOrganization()
      const answers = await Promise.all([1, 2, 3].map(() => add(tenant, [{ folderId: 'f1' }])))
      expect(answers.map(({ data }) => data.f1?.message).sort()).toEqual([
        'Folder added.',
        'Folder already exists.',
        'Folder already exists.',
      ])
    })

    test('[9.1] adds 500 folders in one call, whatever their ids', async () => {
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

    test('[9.1] a top-level folder without a type of its own has the default of the API key', async () => {
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

  describe('update', () => {
    test('[9.3] renames a folder and keeps its place', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(2))
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

    test('[9.3] a moved folder takes what is inside along, and what inherits follows the new parent', async () => {
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

    test('[9.3] tells which folders could not be changed, and changes the others', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [...line(3), { folderId: 'free' }])
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

    test('[9.3] moves happen in the order of the call', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(2))
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

    test('[9.3] counts the levels below the folder that moves', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [...line(30), { folderId: 'a' }, { folderId: 'b', parentFolderId: 'a' }])
      const move = async (parentFolderId: string) =>
        (await tenant.client.folders.update({ organizationId, folders: [{ folderId: 'a', parentFolderId }] }))
          .data.a?.message
      expect(await move('f30')).toBe('Folder Updated.')
      expect((await one(tenant, 'b'))?.ancestors).toHaveLength(32)
      await add(tenant, [{ folderId: 'x', parentFolderId: 'f30' }])
      expect(await move('x')).toBe('Folder nesting is too deep.')
      expect(await one(tenant, 'a')).toMatchObject({ parentFolderId: 'f30' })
    })

    test('[9.3] two folders that are moved into each other at once make no circle', async () => {
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

    test('[9.1] [9.3] a folder that moves and one that is added below it at once are not too deep together', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(30))
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
      // Ancestors begin with `root`.
      for (const { ancestors } of await all(tenant)) expect(ancestors?.length).toBeLessThanOrEqual(32)
    })

    test('[9.3] v1 answers the same', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(1))
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

    test('[9.3] refuses what has the wrong shape and changes nothing', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(2))
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

  describe('delete', () => {
    test('[9.4] takes subfolders and their documents along, and leaves the rest', async () => {
      const tenant = await tenantWithOrganization()
      const { client } = tenant
      await add(tenant, [...line(3), { folderId: 'other' }])
      for (const folderId of ['f1', 'f2', 'f3', 'other']) {
        await client.documents.add({
          organizationId,
          folderId,
          documents: [{ documentId: `in ${folderId}` }],
        })
      }
      expect(await client.folders.delete({ organizationId, folderId: 'f2' })).toEqual({
        message: 'Folder deletion initiated successfully.',
        data: null,
      })
      expect((await all(tenant)).map((folder) => folder.folderId)).toEqual(['f1', 'other'])
      const { data } = await client.documents.get({ organizationId })
      expect(data.map((document) => document.id)).toEqual(['in f1', 'in other'])
    })

    test('[9.4] ends the grants on what was deleted and the notification settings of its documents', async () => {
      const tenant = await tenantWithOrganization()
      const { client } = tenant
      const scene = async () => {
        await add(tenant, line(2))
        await client.documents.add({ organizationId, folderId: 'f2', documents: [{ documentId: 'd1' }] })
      }
      await scene()
      const users = [{ userId: 'u1' }]
      await client.users.add({ organizationId, folderId: 'f1', users })
      await client.users.add({ organizationId, folderId: 'f2', users })
      await client.users.add({ organizationId, documentId: 'd1', users })
      await client.notifications.setConfig({
        organizationId,
        userIds: ['u1'],
        documentIds: ['d1'],
        config: { inbox: 'NONE' },
      })
      await client.folders.delete({ organizationId, folderId: 'f2' })
      await add(tenant, [{ folderId: 'f2', parentFolderId: 'f1' }])
      await client.documents.add({ organizationId, folderId: 'f2', documents: [{ documentId: 'd1' }] })
      expect((await client.users.get({ organizationId, folderId: 'f1' })).data).toMatchObject([
        { userId: 'u1' },
      ])
      expect((await client.users.get({ organizationId, folderId: 'f2' })).data).toEqual([])
      expect((await client.users.get({ organizationId, documentId: 'd1' })).data).toEqual([])
      const { data } = await client.notifications.getConfig({
        organizationId,
        documentIds: ['d1'],
        userId: 'u1',
      })
      expect(data).toMatchObject([{ config: { inbox: 'ALL' } }])
    })

    test('[9.4] refuses a folder that is not there', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(1))
      for (const folderId of ['nowhere', 'root']) {
        expect(await post(tenant, 'delete', { organizationId, folderId })).toEqual(
          refused('Folder not found.', 'NOT_FOUND', 404),
        )
      }
      expect(await post(tenant, 'delete', { organizationId })).toEqual(refused('folderId is required.'))
      expect(await post(tenant, 'delete', { folderId: 'f1' })).toEqual(refused('organizationId is required.'))
      expect(await all(tenant)).toHaveLength(1)
    })

    test('[9.4] is known to v2 only', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(1))
      expect(await post(tenant, 'delete', { organizationId, folderId: 'f1' }, 'v1')).toEqual(
        refused('Not found.', 'NOT_FOUND', 404),
      )
      expect(await all(tenant)).toHaveLength(1)
    })

    test('[9.4] leaves no folder behind that was added to it at the same time', async () => {
      const tenant = await tenantWithOrganization()
      for (let round = 0; round < 5; round++) {
        await add(tenant, [{ folderId: 'top' }])
        await Promise.all([
          tenant.client.folders.delete({ organizationId, folderId: 'top' }),
          add(tenant, [{ folderId: 'inside', parentFolderId: 'top' }]),
          tenant.client.documents
            .add({ organizationId, folderId: 'top', documents: [{ documentId: 'd1' }] })
            .catch((error: unknown) => expect(error).toMatchObject({ message: 'Folder does not exist.' })),
        ])
        expect(await all(tenant)).toEqual([])
        expect((await tenant.client.documents.get({ organizationId })).data).toEqual([])
      }
    })
  })

  describe('updateAccess', () => {
    test('[9.5] sets the type of each folder, and what inherits follows', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [...line(3), { folderId: 'own', parentFolderId: 'f1', accessType: 'public' }])
      expect(
        await tenant.client.folders.updateAccess({
          organizationId,
          folderIds: ['f1', 'nowhere', 'f1'],
          accessType: 'organizationPrivate',
        }),
      ).toEqual({
        message: 'Updated access for folders successfully.',
        data: {
          f1: {
            success: true,
            accessType: 'organizationPrivate',
            message: 'Folder access type updated.',
          },
          nowhere: { success: false, message: 'Folder does not exist.' },
        },
      })
      expect(await one(tenant, 'f1')).toMatchObject({ accessType: 'organizationPrivate' })
      expect(await one(tenant, 'f3')).toMatchObject({
        accessType: 'organizationPrivate',
        inheritAccessFromParent: true,
      })
      expect(await one(tenant, 'own')).toMatchObject({ accessType: 'public', inheritAccessFromParent: false })
    })

    test('[9.5] inheritFromParent drops the own type and wins over accessType', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [
        { folderId: 'f1', accessType: 'restricted' },
        { folderId: 'c1', parentFolderId: 'f1', accessType: 'public' },
      ])
      expect(
        await tenant.client.folders.updateAccess({
          organizationId,
          folderIds: ['c1', 'nowhere'],
          accessType: 'organizationPrivate',
          inheritFromParent: true,
        }),
      ).toEqual({
        message: 'Folder access type updated.',
        data: {
          c1: {
            success: true,
            accessType: null,
            inheritFromParent: true,
            message: 'Folder access type updated.',
          },
          nowhere: { success: false, message: 'Folder does not exist.' },
        },
      })
      expect(await one(tenant, 'c1')).toMatchObject({
        accessType: 'restricted',
        inheritAccessFromParent: true,
      })
    })

    test('[9.5] an id with a comma is one id', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [{ folderId: 'a,b' }, { folderId: 'a' }])
      const { data } = await tenant.client.folders.updateAccess({
        organizationId,
        folderIds: ['a,b'],
        accessType: 'restricted',
      })
      expect(Object.keys(data)).toEqual(['a,b'])
      expect(await one(tenant, 'a')).toMatchObject({ accessType: 'public' })
    })

    test('[9.5] v1 does not know inheritFromParent', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, [{ folderId: 'f1' }, { folderId: 'c1', parentFolderId: 'f1' }])
      const input = { organizationId, folderIds: ['c1'], inheritFromParent: true }
      expect(await post(tenant, 'access/update', input, 'v1')).toEqual(refused('accessType is required.'))
      const answer = await tenant.client.folders.updateAccess(
        { ...input, accessType: 'restricted' },
        { version: 'v1' },
      )
      expect(answer).toEqual({
        message: 'Updated access for folders successfully.',
        data: { c1: { success: true, accessType: 'restricted', message: 'Folder access type updated.' } },
      })
      expect(await one(tenant, 'c1')).toMatchObject({ inheritAccessFromParent: false })
    })

    test('[9.5] refuses what has the wrong shape and changes nothing', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, line(1))
      const before = await all(tenant)
      const faults: [Record<string, unknown>, string][] = [
        [{ folderIds: ['f1'], accessType: 'public' }, 'organizationId is required.'],
        [{ organizationId, accessType: 'public' }, 'folderIds is required.'],
        [{ organizationId, folderIds: [], accessType: 'public' }, 'folderIds must not be empty.'],
        [
          { organizationId, folderIds: Array.from({ length: 501 }, () => 'f1'), accessType: 'public' },
          'folderIds must have at most 500 items.',
        ],
        [{ organizationId, folderIds: ['f1'] }, 'accessType is required.'],
        [{ organizationId, folderIds: ['f1'], inheritFromParent: false }, 'accessType is required.'],
        [
          { organizationId, folderIds: ['f1'], accessType: 'secret' },
          'accessType must be one of: public, restricted, organizationPrivate.',
        ],
      ]
      for (const [data, message] of faults) {
        expect(await post(tenant, 'access/update', data), message).toEqual(refused(message))
      }
      expect(await all(tenant)).toEqual(before)
    })
  })

  test('[0.2.1] folders of two API keys and of two organizations have nothing to do with each other', async () => {
    const [mine, other] = [await tenantWithOrganization(), await tenantWithOrganization()]
    await given.organization(mine, 'o2')
    await add(mine, line(2))
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
