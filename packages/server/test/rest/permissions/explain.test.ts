import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'
import type { Assumption } from '@plenum/protocol'
import type { Client } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { stored as storedRows } from '../../support/data/filled-tenant.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import {
  document,
  folder,
  folderScene,
  grant,
  nowSeconds,
  organization,
  permissionsOf,
} from '../../support/access/permission-scenes.ts'

const organizationId = 'o1'
const ada = { organizationId, userId: 'ada' }
const deep = { ...ada, documentId: 'deep' }
const hourMs = 60 * 60 * 1000

const explain = async (client: Client, input: Parameters<Client['permissions']['explain']>[0]) =>
  (await client.permissions.explain(input)).data

describe.each(stores)('explain on %s', (store) => {
  const server = useServer(store)
  const scene = () => folderScene(server)

  /** The scene of `folderScene`, in which `outer` is restricted and `ada` is a member of the organization. */
  async function restrictedScene(): Promise<given.Tenant> {
    const tenant = await scene()
    const { client } = tenant
    await client.folders.updateAccess({ organizationId, folderIds: ['outer'], accessType: 'restricted' })
    await grant(client, 'ada', organization)
    return tenant
  }

  test('[7.9] a denied user is explained with the rule, all levels and the reason why the grant does not apply', async () => {
    const { client, apiKey } = await restrictedScene()
    expect(await client.permissions.explain(deep)).toEqual({
      message: 'Permissions explained successfully.',
      data: {
        userExists: true,
        documentExists: true,
        now: {
          canRead: false,
          canWrite: false,
          rule: '25.4.5',
          message:
            'The document inherits restricted from the folder outer. Only users with a grant on the document, on that folder or on a folder between them have access. The grant on the organization does not apply: grants on the organization do not open restricted documents. To give access, add a grant on the document with permissions.add.',
          accessType: 'restricted',
          definedAt: { type: 'folder', id: 'outer' },
          disabled: false,
          organizationDisabled: false,
          levels: [
            {
              type: 'document',
              id: 'deep',
              inheritAccessFromParent: true,
              message: 'The user has no grant on this document.',
            },
            {
              type: 'folder',
              id: 'inner',
              inheritAccessFromParent: true,
              message: 'The user has no grant on this folder.',
            },
            {
              type: 'folder',
              id: 'outer',
              accessType: 'restricted',
              inheritAccessFromParent: false,
              message: 'The user has no grant on this folder.',
            },
            {
              type: 'organization',
              id: 'o1',
              grant: {
                accessRole: 'editor',
                isDefaultRole: true,
                state: 'live',
                source: 'stored',
                applies: false,
              },
              message:
                'The grant on the organization does not apply: grants on the organization do not open restricted documents.',
            },
            {
              type: 'apiKey',
              id: apiKey,
              accessType: 'public',
              message:
                'The default of the API key does not apply, because the folder outer sets an access type.',
            },
          ],
        },
      },
    })
  })

  test('[7.9] [E2] the guide shows a real call with its real answer', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/editors.md'), 'utf8')
    const section = /### Find out why a user has no access\n([\s\S]*?)\n###/.exec(guide)?.[1] ?? ''
    const [, code = '', answer = ''] =
      /```js\n([\s\S]*?)```[\s\S]*?```json\n([\s\S]*?)```/.exec(section) ?? []
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.organization(tenant, 'acme')
    const inAcme = { organizationId: 'acme' }
    await client.folders.add({ ...inAcme, folders: [{ folderId: 'drafts', accessType: 'restricted' }] })
    await client.documents.add({ ...inAcme, folderId: 'drafts', documents: [{ documentId: 'roadmap' }] })
    await grant(client, 'ada', { type: 'organization', id: 'acme' })
    const run = runInThisContext(`(async (plenum) => { ${code}; return explanation })`) as (
      plenum: Client,
    ) => unknown
    const explanation = await run(client)
    expect(JSON.parse(JSON.stringify(explanation).replaceAll(tenant.apiKey, 'key_1'))).toEqual(
      JSON.parse(answer),
    )
  })

  test('[7.9] a folder is explained with the levels from the folder upwards', async () => {
    const { client } = await restrictedScene()
    await grant(client, 'ada', { ...folder('inner'), accessRole: 'viewer' })
    const { now, ...rest } = await explain(client, { ...ada, folderId: 'inner' })
    expect(rest).toEqual({ userExists: true })
    expect(now).toMatchObject({
      canRead: true,
      canWrite: false,
      accessRole: 'viewer',
      rule: '25.4.1',
      message:
        'The most specific grant that applies is the one on the folder inner. It gives the role viewer: the user may read, but not write.',
      definedAt: { type: 'folder', id: 'outer' },
    })
    expect(now).not.toHaveProperty('disabled')
    expect(now.levels.map(({ type, id }) => `${type} ${id}`).slice(0, 3)).toEqual([
      'folder inner',
      'folder outer',
      'organization o1',
    ])
  })

  test('[7.9.7] a grant that expired or was removed is shown with its state', async () => {
    const { client } = await restrictedScene()
    const expiresAt = nowSeconds() - 5
    await grant(client, 'ada', { ...document('deep'), accessRole: 'viewer', expiresAt }, folder('inner'))
    await client.permissions.remove({ userId: 'ada', permissions: { resources: [folder('inner')] } })
    const { now } = await explain(client, deep)
    const time = new Date(expiresAt * 1000).toISOString().replace('.000Z', 'Z')
    expect(now.levels.slice(0, 2)).toMatchObject([
      {
        grant: { accessRole: 'viewer', expiresAt, state: 'expired', source: 'stored', applies: false },
        message: `The grant on this document expired at ${time}.`,
      },
      {
        grant: { state: 'removed', source: 'stored', applies: false },
        message:
          'The grant on this folder was removed. The removal also overrides tokens that were issued before it.',
      },
    ])
    expect(now.levels[1]?.grant).not.toHaveProperty('accessRole')
    expect(now.message).toContain(`The grant on the document expired at ${time}.`)
  })

  type Change = [what: string, assume: Assumption, change: (client: Client) => Promise<unknown>]
  const later = nowSeconds() + 3600
  const ids = { organizationId, documentIds: ['deep'] }
  test.each<Change>([
    [
      'grants',
      { addGrants: [{ type: 'folder', id: 'outer', accessRole: 'viewer', expiresAt: later }] },
      (client) => grant(client, 'ada', { ...folder('outer'), accessRole: 'viewer', expiresAt: later }),
    ],
    [
      'removed grants',
      { removeGrants: [{ type: 'organization', id: 'o1' }], accessType: 'organizationPrivate' },
      async (client) => {
        await client.permissions.remove({ userId: 'ada', permissions: { resources: [organization] } })
        await client.documents.updateAccess({ ...ids, accessType: 'organizationPrivate' })
      },
    ],
    [
      'the own access type of the document',
      { accessType: 'public' },
      (client) => client.documents.updateAccess({ ...ids, accessType: 'public' }),
    ],
    [
      'a move to another folder',
      { folderId: 'other', addGrants: [{ type: 'folder', id: 'other' }] },
      async (client) => {
        await client.documents.move({ ...ids, folderId: 'other' })
        await grant(client, 'ada', folder('other'))
      },
    ],
    [
      'a move to the root, and the default of the API key',
      { folderId: 'root', defaultDocumentAccessType: 'organizationPrivate' },
      async (client) => {
        await client.documents.move({ ...ids, folderId: 'root' })
        await client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
      },
    ],
    [
      'a disabled document',
      { disabled: true, accessType: 'public' },
      async (client) => {
        await client.documents.updateDisableState({ ...ids, disabled: true })
        await client.documents.updateAccess({ ...ids, accessType: 'public' })
      },
    ],
    [
      'a disabled organization',
      { organizationDisabled: true },
      (client) => client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: true }),
    ],
  ])('[7.9.2] the assumed answer is the answer after the real change: %s', async (_what, assume, change) => {
    const tenant = await restrictedScene()
    const { client } = tenant
    await client.folders.add({ organizationId, folders: [{ folderId: 'other', accessType: 'restricted' }] })
    const rows = await storedRows(server, tenant)
    const before = await explain(client, deep)
    const tried = await explain(client, { ...deep, assume })
    expect(tried.now).toEqual(before.now)
    expect(tried.differs).toBe(tried.assumed?.canRead)
    expect(await storedRows(server, tenant)).toEqual(rows)
    await change(client)
    const after = await explain(client, deep)
    expect(after.now).toEqual(tried.assumed)
    expect(after.now.message).not.toEqual(before.now.message)
  })

  test('[7.9.2] [7.9.3] a level that is in both lists has the new grant, and assumptions about a folder are possible', async () => {
    const { client } = await restrictedScene()
    const outer = { type: 'folder', id: 'outer' } as const
    const both = { addGrants: [outer], removeGrants: [outer] }
    const tried = await explain(client, { ...ada, folderId: 'inner', assume: both })
    expect(tried).toMatchObject({ differs: true, now: { canRead: false }, assumed: { canWrite: true } })
    const open = { accessType: 'public', organizationDisabled: false } as const
    expect(await explain(client, { ...ada, folderId: 'inner', assume: open })).toMatchObject({
      assumed: { canWrite: true, accessType: 'public', definedAt: { type: 'folder', id: 'inner' } },
    })
    expect(await explain(client, { ...deep, assume: {} })).toMatchObject({ differs: false })
  })

  test('[7.9.3] an assumption that could have no effect is refused', async () => {
    const { headers } = await restrictedScene()
    const refusals: [input: object, message: string][] = [
      [{ ...ada }, 'Provide either documentId or folderId.'],
      [{ ...deep, folderId: 'inner' }, 'Provide either documentId or folderId.'],
      [{ ...ada, folderId: 'inner', assume: { folderId: 'outer' } }, 'assume.folderId needs documentId.'],
      [{ ...ada, folderId: 'inner', assume: { disabled: true } }, 'assume.disabled needs documentId.'],
      [{ ...deep, assume: { folderId: 'nowhere' } }, 'Folder does not exist.'],
      [
        { ...deep, assume: { addGrants: [{ type: 'organization', id: 'o1' }, document('flat')] } },
        'assume.addGrants[1] must be the explained document or folder, a folder above it, or the organization.',
      ],
      [
        { ...deep, assume: { folderId: 'root', removeGrants: [folder('inner')] } },
        'assume.removeGrants[0] must be the explained document or folder, a folder above it, or the organization.',
      ],
      [
        { ...deep, assume: { token: { resources: [{ type: 'document', id: 'deep' }] } } },
        'assume.token.resources[0].organizationId is required.',
      ],
    ]
    for (const [data, message] of refusals) {
      const { status, body } = await server.post('/v2/auth/permissions/explain', { data }, headers)
      expect({ status, body }).toEqual({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message } },
      })
    }
  })

  test('[7.9.4] the grants of a token are named as such, and those of a removed user or an expired token do not apply', async () => {
    const { client } = await restrictedScene()
    const resources = [{ ...document('deep'), accessRole: 'editor' as const }]
    const assumedWith = async (issuedAtMs?: number) => {
      const token = { resources, ...(issuedAtMs !== undefined && { issuedAtMs }) }
      return (await explain(client, { ...deep, assume: { token } })).assumed
    }
    const live = { accessRole: 'editor', state: 'live', source: 'token' }
    const newest = await assumedWith()
    expect(newest).toMatchObject({ canWrite: true, rule: '25.4.1' })
    expect(newest?.levels[0]).toMatchObject({
      grant: { ...live, applies: true },
      message: 'The grant of the token on this document gives the role editor.',
    })
    const expired = await assumedWith(Date.now() - 49 * hourMs)
    expect(expired).toMatchObject({
      canRead: false,
      rule: '7.1.2',
      message: expect.stringContaining('48 hours'),
    })
    expect(expired?.levels[0]).toMatchObject({
      grant: { ...live, applies: false },
      message: 'The grant of the token on this document does not apply because the token has expired.',
    })
    await client.users.delete({ organizationId, userIds: ['ada'] })
    expect((await assumedWith(Date.now() - hourMs))?.levels[0]).toMatchObject({
      grant: { state: 'removed', source: 'token', applies: false },
      message:
        'The user was removed from the organization after the token was issued, so the token gives no access to it.',
    })
    expect(await assumedWith()).toMatchObject({ canWrite: true })
  })

  test('[7.9.5] an unknown user is explained as a user without grants', async () => {
    const { client } = await scene()
    expect(await explain(client, { ...deep, userId: 'nobody' })).toMatchObject({
      userExists: false,
      now: {
        canWrite: true,
        rule: '25.4.3',
        message:
          'The document has the default access type of the API key, public. Every user may read and write it, unless a grant makes the user a viewer. The user has no grant on any level.',
      },
    })
    await grant(client, 'nobody', document('deep'))
    expect(await explain(client, { ...deep, userId: 'nobody' })).toMatchObject({ userExists: true })
  })

  test('[7.9.6] unknown resources are NOT_FOUND, unless the document is explained as if the user had just opened it', async () => {
    const { client } = await scene()
    const refused = (input: Parameters<typeof explain>[1], message: string) =>
      expect(explain(client, input)).rejects.toMatchObject({ status: 'NOT_FOUND', message })
    const skip = { skipResourceExistenceValidation: true }
    await refused({ ...ada, documentId: 'unknown' }, 'Document does not exist')
    await refused({ ...deep, organizationId: 'unknown' }, 'Organization does not exist')
    for (const flags of [{}, skip])
      for (const folderId of ['unknown', 'root'])
        await refused({ ...ada, ...flags, folderId }, 'Folder does not exist')
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' })
    await grant(client, 'ada', organization, { ...document('unknown'), accessRole: 'viewer' })
    expect(await explain(client, { ...ada, ...skip, documentId: 'unknown' })).toMatchObject({
      documentExists: false,
      now: { canRead: true, accessRole: 'viewer', definedAt: { type: 'apiKey' } },
    })
    expect(await explain(client, { ...deep, ...skip, organizationId: 'unknown' })).toMatchObject({
      documentExists: false,
      now: { canRead: false, rule: '25.4.5' },
    })
    expect(await explain(client, { ...deep, ...skip })).toMatchObject({ documentExists: true })
  })

  test('[7.9.1] explain and Get Permissions agree about documents and folders of every kind', async () => {
    const { client } = await restrictedScene()
    await client.documents.updateAccess({
      organizationId,
      documentIds: ['flat'],
      accessType: 'organizationPrivate',
    })
    await grant(
      client,
      'ben',
      { ...folder('outer'), accessRole: 'viewer', expiresAt: later },
      document('flat'),
    )
    for (const userId of ['ada', 'ben', 'nobody']) {
      const [documentIds, folderIds] = [
        ['deep', 'flat'],
        ['inner', 'outer'],
      ]
      const all = await permissionsOf(client, userId, { documentIds, folderIds })
      const pairs = [
        ...documentIds.map((id) => [all?.documents?.[id], { documentId: id }] as const),
        ...folderIds.map((id) => [all?.folders?.[id], { folderId: id }] as const),
      ]
      for (const [permission, resource] of pairs) {
        const { now } = await explain(client, { organizationId, userId, ...resource })
        const { accessRole, accessType, expiresAt } = now
        expect({ accessRole, accessType, expiresAt }).toEqual({
          accessRole: permission?.accessRole,
          accessType: permission?.accessType,
          expiresAt: permission?.expiresAt,
        })
      }
    }
  })
})
