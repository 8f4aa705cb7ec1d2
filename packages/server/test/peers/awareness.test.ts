import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient } from '../support/clients/hocuspocus-client.ts'
import { editorName } from '../support/clients/open-clients.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { linksThatConnect } from '../support/servers/links.ts'
import { useTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

interface Viewer {
  provider: { awareness: { getStates(): Map<number, unknown> } | null }
}
const seenBy = ({ provider }: Viewer, { doc }: { doc: Y.Doc }) =>
  provider.awareness?.getStates().get(doc.clientID)

describe.each(linksThatConnect)(
  'awareness and stateless messages on two servers with the link %s',
  (link) => {
    const [a, b] = useTwoServers(link)

    test('[B4.4] clients see the cursors of clients on other servers, also those from before they connected', async () => {
      const tenant = await given.tenant(a)
      const ada = yjsClient(a, await tokenFor(tenant, 'ada'))
      await synced(ada)
      ada.provider.awareness.setLocalStateField('user', { name: 'Ada', id: 'somebody else' })
      const hal = hocuspocusClient(b, await tokenFor(tenant, 'hal'))
      await synced(hal)
      hal.provider.setAwarenessField('cursor', 1)
      await eventually(() => seenBy(hal, ada)).toEqual({ user: { name: 'Ada', id: 'ada' } })
      await eventually(() => seenBy(ada, hal)).toEqual({ cursor: 1 })
      for (const cursor of [2, 3, 4]) {
        hal.provider.setAwarenessField('cursor', cursor)
        await eventually(() => seenBy(ada, hal)).toEqual({ cursor })
      }
      hal.provider.destroy()
      await eventually(() => seenBy(ada, hal)).toBeUndefined()
    })

    test('[B4.5] a client that moves to another server keeps its state, although the old connection ends later', async () => {
      const tenant = await given.tenant(a)
      const [bob, cleo] = [
        yjsClient(a, await tokenFor(tenant, 'bob')),
        yjsClient(b, await tokenFor(tenant, 'cleo')),
      ]
      await synced(bob, cleo)
      const doc = new Y.Doc()
      const before = yjsClient(a, await tokenFor(tenant, 'ada'), { doc })
      await synced(before)
      before.provider.awareness.setLocalState({ cursor: 1 })
      for (const viewer of [bob, cleo]) await eventually(() => seenBy(viewer, before)).toEqual({ cursor: 1 })
      // The same Yjs client id, and the same clock: as after a lost connection.
      const after = yjsClient(b, await tokenFor(tenant, 'ada'), { doc, awareness: before.provider.awareness })
      await synced(after)
      // The answer to a query of the states comes after the server has the state that the client has sent.
      const answered = new Promise((resolve) => after.provider.ws?.addEventListener('message', resolve))
      after.provider.ws?.send(Uint8Array.of(3))
      await answered
      // What a server sends the other one arrives in order, so the other server also knows of the new session then.
      cleo.provider.awareness.setLocalState({ cursor: 3 })
      await eventually(() => seenBy(bob, cleo)).toEqual({ cursor: 3 })
      let wasSeen = true
      for (const viewer of [bob, cleo]) {
        viewer.provider.awareness.on('change', () => {
          wasSeen &&= seenBy(viewer, before) !== undefined
        })
      }
      // Without a message from the client: its state must not be removed by itself.
      before.provider.shouldConnect = false
      before.provider.ws?.close()
      await eventually(() => before.provider.wsconnected).toBe(false)
      after.provider.awareness.setLocalState({ cursor: 2 })
      for (const viewer of [bob, cleo]) await eventually(() => seenBy(viewer, before)).toEqual({ cursor: 2 })
      expect(wasSeen).toBe(true)
      after.provider.destroy()
      for (const viewer of [bob, cleo]) await eventually(() => seenBy(viewer, before)).toBeUndefined()
    })

    test('[B4.6] stateless messages reach the providers on all servers, in order, and not their sender', async () => {
      const tenant = await given.tenant(a)
      const open = async (server: typeof a, userId: string, name = editorName) => {
        const received: string[] = []
        const client = hocuspocusClient(server, await tokenFor(tenant, userId), {
          name,
          onStateless: ({ payload }) => received.push(payload),
        })
        await synced(client)
        client.provider.setAwarenessField('cursor', 1)
        return { ...client, received }
      }
      const clients = [await open(a, 'ada'), await open(a, 'bob'), await open(b, 'cleo')] as const
      const [ada, bob, cleo] = clients
      const other = await open(b, 'oto', 'org_1/doc_1/other')
      // Both servers know that the other one has the editor open.
      await eventually(() => seenBy(ada, cleo)).toBeDefined()
      await eventually(() => seenBy(cleo, ada)).toBeDefined()
      for (const payload of ['one', '', 'drei 🙂']) ada.provider.sendStateless(payload)
      for (const { received } of [bob, cleo]) await eventually(() => received).toEqual(['one', '', 'drei 🙂'])
      cleo.provider.sendStateless('back')
      for (const { received } of [ada, bob]) await eventually(() => received.at(-1)).toBe('back')
      expect([ada.received, cleo.received.length, other.received]).toEqual([['back'], 3, []])
    })
  },
)
