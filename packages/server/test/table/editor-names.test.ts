import { once } from 'node:events'
import { closeCodes } from '@plenum/protocol/realtime'
import { editorName } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { converged, eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket } from '../support/clients/hocuspocus-client.ts'
import { closed, socketUrl } from '../support/clients/raw-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

const url = 'https://example.com/a/../b?q=1&r=%2F#top'
/** Ids with characters that have a meaning in a path. */
const editorRefs = [
  ['a/b', 'c', 'd'],
  ['a', 'b/c', 'd'],
  ['a', 'b', 'c/d'],
  ['50%', '%2F', '%41'],
  [url, url, url],
  ['ünï/cödé 😀', '...', '/'],
] as const

describe.each(stores)('names of editors with unusual ids on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  const tokenForAll = (tenant: given.Tenant) =>
    tokenFor(tenant, 'ada', { resources: editorRefs.map(([id]) => ({ type: 'organization', id })) })

  test.each(editorRefs)(
    '[0.6] [R1.6] [R6] y-websocket, Hocuspocus, the client and REST reach the same editor with the ids %s, %s and %s',
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

  test('[R1.7] a part of a name that is not valid percent-encoding is used unchanged', async () => {
    const tenant = await given.tenant(server)
    const socket = new WebSocket(socketUrl(server, `/yjs/a/100%/b%zz?token=${await tokenForAll(tenant)}`))
    await once(socket, 'message')
    const { data } = await tenant.client.documents.get({ organizationId: 'a' })
    expect(data).toMatchObject([{ id: '100%' }])
    const end = closed(socket)
    socket.close()
    await end
  })

  test('[R1.8] [R6.5] the server refuses editor names without exactly three parts or with parts that are not ids', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    for (const name of [
      'a/b',
      'a/b/c/d',
      'a%2Fb%2Fc',
      '%2e/b/c',
      'a/%2e%2e/c',
      'a/./c',
      '../b/c',
      'a//c',
      'a/b/',
      'a/b/%00',
      'a/b/%0A',
      `a/b/${'x'.repeat(257)}`,
      'a/b/%20',
    ]) {
      // A WebSocket would resolve dots before it sends the address.
      const socket = rawSocket(`/yjs/${name}?token=${token}`)
      expect([name, (await closed(socket)).code]).toEqual([name, closeCodes.badMessage])
      const denied = new Promise<string>((resolve) => {
        hocuspocusClient(server, token, { name, onAuthenticationFailed: ({ reason }) => resolve(reason) })
      })
      expect([name, await denied]).toEqual([name, expect.stringContaining('percent-encoded')])
    }
  })

  /** Opens a socket with exactly this path; a `WebSocket` would normalize it. */
  const rawSocket = (path: string) =>
    new WebSocket(socketUrl(server, '/'), {
      finishRequest: (request) => {
        request.path = path
        request.end()
      },
    })

  test('[0.6] clients can open an editor with ids of 256 characters', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const editorRef = ['😀', '𝕕', '𝕖'].map((id) => id.repeat(256)) as [string, string, string]
    // The token is in the address, because a client may send only 16 KiB before it is authenticated.
    const socket = hocuspocusSocket(server, `?token=${token}`)
    const ada = hocuspocusClient(server, '', { name: editorName(...editorRef), socket })
    const bob = yjsClient(server, token, { name: editorName(...editorRef) })
    await synced(ada, bob)
    ada.text.insert(0, 'Hello')
    await eventually(() => bob.text.toJSON()).toBe('Hello')
  })
})
