import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { closeAfterTest } from '../../support/clients/open-clients.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { createRandom } from '../../support/random/random.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
type Resources = NonNullable<NonNullable<Parameters<typeof tokenFor>[2]>['resources']>
interface Listed {
  documentId: string
  accessRole: string
}

describe.each(stores)('documents.list on %s', (store) => {
  const server = useServer(store)

  /** Reads all pages as the user of the token, by REST. */
  async function listAs(token: string, input: object = {}) {
    const found: Listed[] = []
    let pages = 0
    for (let pageToken: string | undefined; ;) {
      const { status, body } = await server.post(
        '/v2/organizations/documents/list',
        { data: { organizationId, ...input, ...(pageToken && { pageToken }) } },
        { authorization: `Bearer ${token}` },
      )
      expect(status).toBe(200)
      const { data, nextPageToken } = body.result as { data: Listed[]; nextPageToken?: string }
      found.push(...data)
      pages++
      if (nextPageToken === undefined) return { found, pages }
      pageToken = nextPageToken
    }
  }
  const rolesIn = (found: readonly Listed[]) =>
    Object.fromEntries(found.map(({ documentId, accessRole }) => [documentId, accessRole]))

  /** Opens each document as the user of the token. */
  async function openEach(token: string, documentIds: readonly string[]) {
    const socket = await RealtimeSocket.connect(server, token)
    closeAfterTest({ destroy: () => void socket.close() })
    for (const [ref, documentId] of documentIds.entries())
      socket.send({ type: 'open', ref, organizationId, documentId, topics: [] })
    const answers = () => socket.messages.flatMap((one) => ('ref' in one ? [one] : []))
    await expect.poll(() => answers().length).toBe(documentIds.length)
    const opened = answers().flatMap((one) =>
      one.type === 'opened' ? [[documentIds[one.ref] as string, one.accessRole] as const] : [],
    )
    return Object.fromEntries(opened)
  }

  test('[10.10] documents that are named are listed in pages, each once', async () => {
    const tenant = await given.tenant(server)
    const documentIds = ['a', 'b', 'c', 'd', 'e']
    for (const documentId of documentIds) await given.document(tenant, documentId)
    const { found, pages } = await listAs(await tokenFor(tenant, 'ada'), { documentIds, pageSize: 2 })
    expect(found.map(({ documentId }) => documentId).toSorted()).toEqual(documentIds)
    expect(pages).toBe(3)
  })

  test('[10.10] a user lists exactly the documents that the user can open, with the role', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const random = createRandom()
    await given.organization(tenant)
    await client.apiKeyConfig.update({ documentCreation: 'backends' })
    const types = ['public', 'organizationPrivate', 'restricted', undefined] as const
    const folderIds = ['f1', 'f2', 'f3', 'f4', 'f5']
    for (const [index, folderId] of folderIds.entries()) {
      const accessType = random.of(types)
      const parentFolderId = index > 1 ? random.of(folderIds.slice(0, index)) : undefined
      const folder = {
        folderId,
        ...(accessType && { accessType }),
        ...(parentFolderId && { parentFolderId }),
      }
      await client.folders.add({ organizationId, folders: [folder] })
    }
    const documentIds = Array.from({ length: 40 }, (_, index) => `d${index}`)
    for (const documentId of documentIds) {
      const accessType = random.of(types)
      const folderId = random(4) > 0 ? random.of(folderIds) : undefined
      await client.documents.add({
        organizationId,
        ...(folderId && { folderId }),
        documents: [{ documentId, ...(accessType && { accessType }) }],
      })
    }
    const disabled = [random.of(documentIds), random.of(documentIds)]
    await client.documents.updateDisableState({ organizationId, documentIds: disabled, disabled: true })
    const some = (): Resources =>
      [...documentIds, ...folderIds, organizationId].flatMap((id) => {
        if (random(8) > 0) return []
        const type = id === organizationId ? 'organization' : id.startsWith('f') ? 'folder' : 'document'
        const role = random(3)
        const accessRole = role === 0 ? ('viewer' as const) : ('editor' as const)
        const expiresAt = random(5) === 0 ? Math.floor(Date.now() / 1000) + random.of([-60, 3600]) : undefined
        return [
          { type, id, organizationId, ...(role < 2 && { accessRole }), ...(expiresAt && { expiresAt }) },
        ]
      }) as Resources
    for (const defaultDocumentAccessType of ['public', 'organizationPrivate', 'restricted'] as const) {
      await client.apiKeyConfig.update({ defaultDocumentAccessType })
      for (const user of ['ada', 'bob', 'eve']) {
        const userId = `${user}-${defaultDocumentAccessType}`
        const stored = some()
        if (stored.length > 0) await client.permissions.add({ userId, permissions: { resources: stored } })
        const token = await tokenFor(tenant, userId, { resources: some() })
        const opened = await openEach(token, documentIds)
        const { found } = await listAs(token, { pageSize: 7 })
        expect(rolesIn(found)).toEqual(opened)
        const ids = found.map(({ documentId }) => documentId)
        expect(new Set(ids).size).toBe(ids.length)
        expect(rolesIn((await listAs(token, { documentIds: documentIds.slice(0, 30) })).found)).toEqual(
          Object.fromEntries(Object.entries(opened).filter(([id]) => documentIds.indexOf(id) < 30)),
        )
      }
    }
    await client.organizations.updateDisableState({ organizationIds: [organizationId], disabled: true })
    expect((await listAs(await tokenFor(tenant, 'ada-public'))).found).toEqual([])
  })

  test('[10.10] documents are listed newest first, with their name and without other metadata', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    for (const documentId of ['old', 'new']) {
      const documents = [{ documentId, documentName: `The ${documentId} one`, price: 7 }]
      await client.documents.add({ organizationId, createOrganization: true, documents })
    }
    const { found } = await listAs(await tokenFor(tenant, 'ada', { role: 'viewer' }))
    const shared = { accessRole: 'viewer', createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
    expect(new Set(found)).toEqual(
      new Set([
        { documentId: 'new', documentName: 'The new one', ...shared },
        { documentId: 'old', documentName: 'The old one', ...shared },
      ]),
    )
    const { data } = await client.documents.list({ organizationId, userId: 'ada', pageSize: 1 })
    expect(data).toEqual([found[0]])
  })

  test('[10.10] [10.10.1] a page with few visible documents ends after a limited number of documents, and the next one goes on', async () => {
    const tenant = await given.tenant(server)
    const { client, apiKey } = tenant
    await given.organization(tenant)
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' })
    await seed(server.database, apiKey, organizationId).documents(5000)
    const resources = ['d1', 'd2500', 'd5000'].map((id) => ({
      type: 'document' as const,
      id,
      organizationId,
      accessRole: 'viewer' as const,
    }))
    const token = await tokenFor(tenant, 'ada', { resources })
    const { found, pages } = await listAs(token)
    expect(found.map(({ documentId }) => documentId)).toEqual(['d5000', 'd2500', 'd1'])
    expect(pages).toBe(3)
  })

  test('[10.10] [0.2.3] a backend lists the documents of a user by stored grants, and a user only their own', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.restrictedDocument(tenant, 'doc_1')
    await client.permissions.add({
      userId: 'ada',
      permissions: { resources: [{ type: 'document', id: 'doc_1', organizationId, accessRole: 'viewer' }] },
    })
    const ofUser = async (userId: string) =>
      rolesIn((await client.documents.list({ organizationId, userId })).data)
    expect([await ofUser('ada'), await ofUser('bob')]).toEqual([{ doc_1: 'viewer' }, {}])
    await expect(client.documents.list({ organizationId })).rejects.toMatchObject({
      message: 'userId is required.',
    })
    const { body } = await server.post(
      '/v2/organizations/documents/list',
      { data: { organizationId, userId: 'ada' } },
      { authorization: `Bearer ${await tokenFor(tenant, 'bob')}` },
    )
    expect(body).toMatchObject({ error: { status: 'PERMISSION_DENIED' } })
  })
})
