import type { LiveEditor } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eventually, synced } from '../support/clients/convergence.ts'
import { editorName } from '../support/clients/open-clients.ts'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { ySweetManager } from '../support/clients/y-sweet-client.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { linksThatConnect } from '../support/servers/links.ts'
import { metric } from '../support/measures/metrics-page.ts'
import { useTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

describe.each(linksThatConnect)('clients that move between two servers (%s)', (kind) => {
  const [a, b] = useTwoServers(kind)

  async function scene() {
    const tenant = await given.tenant(a)
    await given.document(tenant)
    const connect = async (server: typeof a, userId: string) => {
      const connection = plenumConnection(server.client(), await tokenFor(tenant, userId))
      connection.on('error', () => {})
      return connection
    }
    return { tenant, connect }
  }

  test('[B1.6] a server that keeps an editor for a client that may come back gets what is written meanwhile', async () => {
    const { connect } = await scene()
    const healed = async () => (await metric(a, 'plenum_gaps_healed_total')) ?? 0
    const before = await healed()
    for (let round = 1; round <= 3; round++) {
      for (const server of [a, b]) {
        const connection = await connect(server, 'ada')
        const editor = connection.document('org_1', 'doc_1').editor('note')
        await editor.whenSynced
        const text = editor.doc.getText('content')
        await eventually(() => text.length).toBe(round - 1)
        if (server === b) text.insert(0, 'b')
        await editor.whenSaved()
        connection.close()
      }
    }
    // Messages told the first server, and it did not find the changes by comparing.
    expect(await healed()).toBe(before)
  })

  test('[B1.6] a client that comes back to a server finds the live states that another server has stored meanwhile', async () => {
    const { tenant } = await scene()
    const token = await tokenFor(tenant, 'ada')
    // It keeps the document in the memory of the first server.
    const editor = yjsClient(a, token)
    await synced(editor)
    const open = async (server: typeof a) => {
      const socket = await RealtimeSocket.connect(server, token)
      return { socket, opened: await socket.open() }
    }
    ;(await open(a)).socket.socket.close()
    editor.provider.destroy()
    const { socket } = await open(b)
    await socket.set('state', { n: 1 })
    await eventually(async () => (await open(a)).opened.liveStates).toMatchObject([{ data: { n: 1 } }])
  })

  test('[R51] what a backend adds to a document that users of another server change is stored', async () => {
    const { tenant } = await scene()
    const manager = ySweetManager(a, tenant)
    const bob = yjsClient(b, await tokenFor(tenant, 'bob'))
    await synced(bob)
    for (let round = 1; round <= 4; round++) {
      bob.text.insert(bob.text.length, 'b')
      const doc = new Y.Doc()
      const text = doc.getText('content')
      await eventually(async () => {
        Y.applyUpdate(doc, await manager.getDocAsUpdate(editorName))
        return text.length
      }).toBe(2 * round - 1)
      const before = Y.encodeStateVector(doc)
      text.insert(text.length, 'r')
      await manager.updateDoc(editorName, Y.encodeStateAsUpdate(doc, before))
      await eventually(() => bob.text.length).toBe(2 * round)
    }
  })

  /** Two users write into an editor at the same moment, on different servers and under the same Yjs client id. */
  async function writeTogether(
    { connect }: Awaited<ReturnType<typeof scene>>,
    editorId: string,
    before: (bob: LiveEditor, mallory: LiveEditor) => Promise<void>,
  ) {
    const open = async (server: typeof a, userId: string) =>
      (await connect(server, userId)).document('org_1', 'doc_1').editor(editorId)
    const [mallory, bob] = [await open(a, 'mallory'), await open(b, 'bob')]
    await Promise.all([mallory.whenSynced, bob.whenSynced])
    await before(bob, mallory)
    mallory.doc.clientID = bob.doc.clientID
    const type = async ({ doc }: LiveEditor, word: string, count: number) => {
      for (let n = 0; n < count; n++) {
        doc.getText('content').insert(0, word)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([type(mallory, 'm', 30), type(bob, 'b', 10)])
    const readers = [await open(a, 'eve'), await open(b, 'eve')]
    return { bob, mallory, texts: () => readers.map(({ doc }) => doc.getText('content').toString()) }
  }

  test('[R8.5] [R31.2] a user cannot write under the Yjs client id of a user who is connected to another server', async () => {
    const all = await scene()
    for (let round = 0; round < 2; round++) {
      const { bob, mallory, texts } = await writeTogether(all, `note-${round}`, async (bob, mallory) => {
        bob.awareness.setLocalState({ cursor: 1 })
        await eventually(() => mallory.awareness.getStates().has(bob.doc.clientID)).toBe(true)
      })
      await bob.whenSaved()
      await eventually(texts).toEqual(['b'.repeat(10), 'b'.repeat(10)])
      expect(mallory.saved).toBe(false)
    }
  })

  test('[R8.5] if two users first write under one Yjs client id at the same moment, all servers keep what one of them wrote', async () => {
    const all = await scene()
    for (let round = 0; round < 4; round++) {
      const { bob, mallory, texts } = await writeTogether(all, `note-${round}`, async () => {})
      await eventually(() => new Set(texts()).size === 1 && /^(m{30}|b{10})$/.test(texts()[0] ?? '')).toBe(
        true,
      )
      const isOfBob = texts()[0]?.startsWith('b')
      await eventually(() => [bob.saved, mallory.saved]).toEqual([isOfBob, !isOfBob])
    }
  })
})
