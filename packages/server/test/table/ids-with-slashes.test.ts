import { once } from 'node:events'
import { editorName } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { converged, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient } from '../support/clients/hocuspocus-client.ts'
import { closed, socketUrl } from '../support/clients/raw-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/user-tokens.ts'

const url = 'https://example.com/a/../b?q=1&r=%2F#top'
/** Joined with a slash, the first two are the same. */
const editorRefs = [
  ['a/b', 'c', 'd'],
  ['a', 'b/c', 'd'],
  ['a', 'b', 'c/d'],
  ['50%', '%2F', '%41'],
  [url, url, url],
  ['ünï/cödé 😀', '...', '/'],
] as const

describe.each(stores)('ids that contain slashes on %s', (store) => {
  const server = useServer(store)

  const tokenForAll = (tenant: given.Tenant) =>
    tokenFor(tenant, 'ada', { resources: editorRefs.map(([id]) => ({ type: 'organization', id })) })

  test.each(editorRefs)(
    '[0.6] [R1.6] [R6] all clients and REST reach the same editor with the ids %s, %s and %s',
    async (organizationId, documentId, editorId) => {
      const tenant = await given.tenant(server)
      const token = await tokenForAll(tenant)
      const name = editorName(organizationId, documentId, editorId)
      const [ada, hal] = [yjsClient(server, token, { name }), hocuspocusClient(server, token, { name })]
      const connection = tenant.client.connect({ token: () => token, WebSocket })
      const editor = connection.document(organizationId, documentId).editor(editorId)
      await synced(ada, hal)
      ada.text.insert(0, 'Hello')
      await converged(ada.doc, hal.doc)
      await expect.poll(() => editor.doc.getText('content').toString()).toBe('Hello')
      connection.close()
      const editorRef = { organizationId, documentId, editorId }
      await expect
        .poll(async () => (await tenant.client.crdt.get(editorRef)).data)
        .toMatchObject([{ id: editorId, data: 'Hello' }])
      await tenant.client.crdt.update({ ...editorRef, type: 'text', data: 'Hello from REST' })
      await expect.poll(() => hal.text.toString()).toBe('Hello from REST')
    },
  )

  test('[0.6.1] documents whose ids differ only in the position of a slash share nothing', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenForAll(tenant)
    const clients = editorRefs.slice(0, 3).map(([organizationId, documentId, editorId]) => {
      const connection = tenant.client.connect({ token: () => token, WebSocket })
      const document = connection.document(organizationId, documentId)
      return { connection, document, name: editorName(organizationId, documentId, editorId) }
    })
    const editors = clients.map(({ name }) => yjsClient(server, token, { name }))
    await synced(...editors)
    for (const [index, { text }] of editors.entries()) text.insert(0, `text ${index}`)
    await Promise.all(clients.map(({ document }, index) => document.liveState('cell').set({ value: index })))
    const readers = clients.map(({ name }) => yjsClient(server, token, { name }))
    await synced(...readers)
    for (const [index, { text }] of readers.entries()) {
      await expect.poll(() => text.toString()).toBe(`text ${index}`)
      expect(clients[index]?.document.liveState('cell').value).toEqual({ value: index })
    }
    await tenant.client.organizations.delete({ organizationIds: ['a/b'] })
    const { data } = await tenant.client.crdt.get({ organizationId: 'a', documentId: 'b/c' })
    expect(data).toMatchObject([{ id: 'd', data: 'text 1' }])
    for (const { connection } of clients) connection.close()
  })

  test('[R1.7] a part that is not percent-encoded is used unchanged', async () => {
    const tenant = await given.tenant(server)
    const socket = new WebSocket(socketUrl(server, `/yjs/a/100%/b%zz?token=${await tokenForAll(tenant)}`))
    await once(socket, 'message')
    const { data } = await tenant.client.documents.get({ organizationId: 'a' })
    expect(data).toMatchObject([{ id: '100%' }])
    const end = closed(socket)
    socket.close()
    await end
  })
})
