import { describe, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { converged, eventually, encodedContent, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { closeClients, editorName } from '../../support/clients/open-clients.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { rounds } from '../../support/random/effort.ts'
import { testSeed } from '../../support/random/random.ts'
import { randomEditor } from '../../support/updates/random-editors.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe.each(stores)('y-websocket and Hocuspocus clients together on %s', (store) => {
  const server = useServer(store)

  test('[R1] [R6] clients of both protocols see each other type, and late joiners of both see all of it', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const hal = hocuspocusClient(server, await tokenFor(tenant, 'hal'))
    await synced(ada, hal)
    ada.text.insert(0, 'Hello ')
    await eventually(() => hal.text.toJSON()).toBe('Hello ')
    hal.text.insert(6, 'world')
    await eventually(() => ada.text.toJSON()).toBe('Hello world')
    await eventually(() => hal.provider.hasUnsyncedChanges).toBe(false)
    const late = [
      yjsClient(server, await tokenFor(tenant, 'cleo')),
      hocuspocusClient(server, await tokenFor(tenant, 'dan')),
    ]
    await synced(...late)
    await converged(ada.doc, hal.doc, ...late.map(({ doc }) => doc))
  })

  test('[R2.1] [R2.2] clients of both protocols see the connected users with their token identity, and see them disconnect', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const hal = hocuspocusClient(server, await tokenFor(tenant, 'hal'))
    await synced(ada, hal)
    ada.provider.awareness.setLocalStateField('user', { name: 'Ada', id: 'somebody else' })
    hal.provider.setAwarenessField('user', { name: 'Hal', email: 'nobody@example.com' })
    const seenByAda = () => ada.provider.awareness.getStates().get(hal.doc.clientID)
    const seenByHal = () => hal.provider.awareness?.getStates().get(ada.doc.clientID)
    await eventually(seenByHal).toEqual({ user: { name: 'Ada', id: 'ada' } })
    await eventually(seenByAda).toEqual({ user: { name: 'Hal', email: 'hal@example.com' } })
    hal.provider.destroy()
    await eventually(seenByAda).toBeUndefined()
    const back = hocuspocusClient(server, await tokenFor(tenant, 'hal'))
    await synced(back)
    await eventually(() => back.provider.awareness?.getStates().get(ada.doc.clientID)).toEqual({
      user: { name: 'Ada', id: 'ada' },
    })
    ada.provider.destroy()
    await eventually(() => back.provider.awareness?.getStates().has(ada.doc.clientID)).toBe(false)
  })

  test('[R3] a viewer of either protocol sees the changes of editors of either protocol and changes nothing', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const viewer = (user: string) => tokenFor(tenant, user, { role: 'viewer' })
    const editors = [
      yjsClient(server, await tokenFor(tenant)),
      hocuspocusClient(server, await tokenFor(tenant, 'hal')),
    ]
    const viewers = [yjsClient(server, await viewer('vic')), hocuspocusClient(server, await viewer('vera'))]
    await synced(...editors, ...viewers)
    for (const { text } of viewers) text.insert(0, 'forged ')
    for (const { text } of editors) text.insert(text.length, 'Hello')
    for (const { text } of viewers) await eventually(() => text.length).toBe('forged HelloHello'.length)
    for (const { text } of editors) expect(text.toJSON()).toBe('HelloHello')
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('HelloHello')
  })

  test('[R4] REST reads the changes of both protocols, and clients of both receive the changes of REST', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const hal = hocuspocusClient(server, await tokenFor(tenant, 'hal'))
    await synced(ada, hal)
    const read = async () => (await tenant.client.crdt.get(editorRef)).data[0]
    ada.text.insert(0, 'one ')
    await eventually(read).toMatchObject({ data: 'one ', lastUpdatedBy: 'ada' })
    await eventually(() => hal.text.length).toBe(4)
    hal.text.insert(4, 'two ')
    await eventually(read).toMatchObject({
      data: 'one two ',
      lastUpdatedBy: 'hal',
      sessionId: expect.stringMatching(/^conn_/),
    })
    await tenant.client.crdt.update({ ...editorRef, data: 'one two three', type: 'text' })
    await eventually(() => ada.text.toJSON()).toBe('one two three')
    await eventually(() => hal.text.toJSON()).toBe('one two three')
    await converged(ada.doc, hal.doc)
    ada.text.insert(13, '!')
    await eventually(() => hal.text.toJSON()).toBe('one two three!')
  })

  test('[R1.3] text typed in a Yjs document that is connected over both protocols appears once for another client', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const doc = new Y.Doc()
    const both = [yjsClient(server, token, { doc }), hocuspocusClient(server, token, { doc })]
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(...both, bob)
    for (let typed = 0; typed < 100; typed++) doc.getText('content').insert(typed, 'x')
    bob.text.insert(0, 'y')
    await eventually(() => doc.getText('content').length).toBe(101)
    await converged(doc, bob.doc)
  })

  test(
    '[R1] [R6] six clients of both protocols that type, delete, format, connect and disconnect end with the same bytes',
    { timeout: 300_000 },
    async () => {
      const tenant = await given.tenant(server)
      const clients = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const token = await tokenFor(tenant, `user${index % 5}`)
          const random = randomEditor(testSeed + index)
          if (index % 2 === 0) {
            const client = yjsClient(server, token)
            const { provider } = client
            const leave = async () => provider.disconnect()
            const join = (): void => provider.connect()
            const drop = (): void => (provider.ws as unknown as WebSocket | null)?.terminate()
            return { ...client, ...random, leave, join, drop }
          }
          const client = hocuspocusClient(server, token, index % 4 === 1 ? { flushDelay: 5 } : {})
          const { socket } = client
          const leave = async () => {
            socket.disconnect()
            // The socket does not reconnect before its status is `disconnected`.
            await eventually(() => socket.status).toBe('disconnected')
          }
          const join = (): void => void socket.connect()
          const drop = (): void => (socket.webSocket as unknown as WebSocket | null)?.terminate()
          return { ...client, ...random, leave, join, drop }
        }),
      )
      await synced(...clients)
      await Promise.all(
        clients.map(async ({ doc, change, pause, random, leave, join, drop }) => {
          for (let changes = 0; changes < rounds(30); changes++) {
            change(doc)
            if (random() < 0.03) {
              await leave()
              change(doc)
              await pause()
              change(doc)
              join()
            }
            if (random() < 0.02) drop()
            if (random() < 0.3) await pause()
          }
        }),
      )
      await synced(...clients)
      const docs = clients.map(({ doc }) => doc)
      await converged(...docs)
      for (const { provider } of clients) {
        if ('unsyncedChanges' in provider) await eventually(() => provider.hasUnsyncedChanges).toBe(false)
      }

      const fresh = [
        yjsClient(server, await tokenFor(tenant, 'late')),
        hocuspocusClient(server, await tokenFor(tenant, 'later')),
      ]
      await synced(...fresh)
      await converged(docs[0] as Y.Doc, ...fresh.map(({ doc }) => doc))
      const { data } = await tenant.client.crdt.get(editorRef)
      expect(data[0]?.data).toBe(clients[0]?.text.toJSON())
    },
  )

  test('[R7] content typed over both protocols is the same, byte by byte, after a restart', async () => {
    const before = await startServer(store)
    const tenant = await given.tenant(before)
    const token = await tokenFor(tenant)
    const clients = [yjsClient(before, token), hocuspocusClient(before, token)]
    await synced(...clients)
    const { change } = randomEditor(testSeed)
    for (const { doc } of clients) for (let changes = 0; changes < 50; changes++) change(doc)
    await converged(...clients.map(({ doc }) => doc))
    const state = encodedContent(clients[0]?.doc as Y.Doc)
    closeClients()
    const after = await before.restart()
    onTestFinished(() => {
      closeClients()
      return after.stop()
    })
    const reader = yjsClient(after, token, { name: editorName })
    await synced(reader)
    expect(encodedContent(reader.doc)).toBe(state)
  })
})
