import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { dialects, rawClient } from '../../support/clients/raw-clients.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const notByViewers = 'The document does not exist, and a viewer cannot create it.'
const onlyByBackends =
  'The document does not exist. Clients cannot create it: documentCreation of the API key is backends.'

describe.each(stores)('documents that do not exist on %s', (store) => {
  const server = useServer(store)

  /** A tenant in which `editor` and `viewer` are members with these roles. */
  async function scene(documentCreation: 'clients' | 'backends') {
    const tenant = await given.tenant(server)
    await given.organization(tenant)
    await tenant.client.apiKeyConfig.update({
      defaultDocumentAccessType: 'organizationPrivate',
      documentCreation,
    })
    const tokenOf = (role: 'viewer' | 'editor') => tokenFor(tenant, role, { role })
    return { ...tenant, viewer: await tokenOf('viewer'), editor: await tokenOf('editor') }
  }

  const documentsOf = async ({ client }: given.Tenant) =>
    (await client.documents.get({ organizationId })).data.map(({ id }) => id)

  /** Passes if the client can read the editor. */
  const opens = async (client: ReturnType<typeof rawClient>) => expect(await client.read()).toBe('')

  describe.each(dialects)('%s', (dialect) => {
    const open = (token: string, documentId = 'typo') =>
      rawClient(server, dialect, { organizationId, documentId, editorId: 'note', token })
    /** Y-Sweet clients never create documents (R45), so they get its reason. */
    const reasonOf = (reason: string) =>
      expect.stringContaining(dialect === 'y-sweet' ? 'The document does not exist.' : reason)
    const codeOf = async (client: ReturnType<typeof open>) => {
      const { code, reason } = await client.ended
      return { code: dialect === 'hocuspocus' ? 4404 : code, reason }
    }

    test('[0.8.2] a viewer who opens a document that does not exist is refused and creates nothing', async () => {
      const tenant = await scene('clients')
      expect(await codeOf(open(tenant.viewer))).toEqual({ code: 4404, reason: reasonOf(notByViewers) })
      expect(await documentsOf(tenant)).toEqual([])
      if (dialect === 'y-sweet') return
      await opens(open(tenant.editor))
      await opens(open(tenant.viewer))
      expect(await documentsOf(tenant)).toEqual(['typo'])
    })

    test('[0.8.2] with documentCreation backends an editor is refused until a backend adds the document', async () => {
      const tenant = await scene('backends')
      expect(await codeOf(open(tenant.editor))).toEqual({ code: 4404, reason: reasonOf(onlyByBackends) })
      expect(await codeOf(open(tenant.viewer))).toEqual({ code: 4404, reason: reasonOf(notByViewers) })
      expect(await documentsOf(tenant)).toEqual([])
      await given.document(tenant, 'typo')
      await opens(open(tenant.editor))
    })
  })

  test('[0.8.2] the option applies to the next opening, and a backend with credentials creates documents in any case', async () => {
    const tenant = await scene('backends')
    const target = { organizationId, documentId: 'typo', editorId: 'note' }
    await opens(rawClient(server, 'realtime', { ...target, headers: tenant.headers }))
    expect(await documentsOf(tenant)).toEqual(['typo'])
    await tenant.client.apiKeyConfig.update({ documentCreation: 'clients' })
    await opens(rawClient(server, 'realtime', { ...target, documentId: 'next', token: tenant.editor }))
    expect(await documentsOf(tenant)).toEqual(['typo', 'next'])
  })

  test('[0.8.2] an open document that is deleted is not created again by its viewers', async () => {
    const tenant = await scene('clients')
    await given.document(tenant, 'plan')
    const target = { organizationId, documentId: 'plan', editorId: 'note', token: tenant.viewer }
    const viewer = rawClient(server, 'yjs', target)
    await opens(viewer)
    await tenant.client.documents.delete({ organizationId, documentIds: ['plan'] })
    expect((await viewer.ended).code).toBe(4404)
    expect(await rawClient(server, 'yjs', target).ended).toMatchObject({ code: 4404, reason: notByViewers })
    expect(await documentsOf(tenant)).toEqual([])
  })

  test('[0.8.2] [K3] the client says that the document does not exist, and why it was not created', async () => {
    const tenant = await scene('backends')
    const connection = plenumConnection(server.client(), tenant.editor)
    const document = connection.document(organizationId, 'typo')
    await expect.poll(() => document.ended).toEqual({ code: 4404, reason: onlyByBackends })
  })
})
