import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import type { ClientMessage } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { createRandom, testSeed } from '../../support/random/random.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

describe.each(stores)('messages in any order on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each([1, 2, 3, 4, 5, 6])(
    '[R10] after well-formed messages in random order, each live state is answered, the connection works and no presence is left (run %i)',
    async (run) => {
      const tenant = await given.tenant(server)
      const next = createRandom(testSeed + run)
      const token = await tokenFor(tenant)
      const watcher = new RealtimeSocket(server, { headers: tenant.headers })
      await watcher.take('ready')
      const view = new DocumentView(watcher)
      await watcher.open()
      const client = await RealtimeSocket.connect(server, token)
      const answered: number[] = []
      client.socket.on('message', (data: Buffer, isBinary) => {
        const message = isBinary ? undefined : (JSON.parse(data.toString()) as { type: string; id?: number })
        if (message?.id !== undefined && message.id > 1000) answered.push(message.id)
      })
      const updates = Array.from({ length: 3 }, (_, index) => {
        const doc = new Y.Doc()
        doc.clientID = 1000 + index
        doc.getText('content').insert(0, `word ${index}`)
        return Y.encodeStateAsUpdate(doc)
      })
      let number = 0
      let ids = 1000
      const inDocument = (ref: number): ClientMessage => {
        switch (next(4)) {
          case 0:
            return { type: 'setPresence', ref, status: 'away', data: { n: next(9) } }
          case 1:
            return {
              type: 'setLiveState',
              ref,
              id: ++ids,
              liveStateDataId: `s${next(3)}`,
              data: { [`k${next(3)}`]: next(100) },
              merge: next(2) > 0,
            }
          case 2:
            return { type: 'openEditor', ref, channel: next(3), editorId: `e${next(3)}` }
          default:
            return { type: 'closeEditor', channel: next(3) }
        }
      }
      for (let n = 0; n < 300; n++) {
        const ref = next(3)
        const kind = next(10)
        if (kind === 0) {
          const documentId = `doc_${1 + next(2)}`
          client.send({
            type: 'open',
            ref,
            organizationId: 'org_1',
            documentId,
            topics: ['presence', 'liveState'],
          })
        } else if (kind === 1) client.send({ type: 'close', ref })
        else if (kind === 2) client.sendFrame('update', updates[next(3)] as Uint8Array, next(3), ++number)
        else if (kind === 3) client.sendFrame('syncStep1', Uint8Array.of(0), next(3))
        else if (kind === 4) client.send({ type: 'auth', token })
        else client.send(inDocument(ref))
        if (next(40) === 0) await client.settled()
        if (next(60) === 0)
          await tenant.client.users.add({ organizationId: 'org_1', users: [{ userId: `u${n}` }] })
      }
      for (const ref of [0, 1, 2]) client.send({ type: 'close', ref })
      await eventually(() => answered.length).toBe(ids - 1000)
      expect(new Set(answered).size).toBe(answered.length)
      // The connection still works.
      for (let again = 0; again < 3; again++) {
        await client.open('doc_1', { ref: 50 + again })
        expect(await client.set('last', { again }, { ref: 50 + again })).toMatchObject({ type: 'done' })
        client.send({ type: 'close', ref: 50 + again })
      }
      await eventually(() => view.data('last')).toEqual({ again: 2 })
      const list = await storedLiveStates(server, tenant)
      expect(Object.fromEntries(view.states)).toEqual(
        Object.fromEntries(list.map((state) => [state.liveStateDataId, state])),
      )
      await client.close()
      await eventually(() => view.present).toEqual({})
      expect(server.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
    },
    30_000,
  )

  /** Opens one editor with two clients of a user. Returns them and two updates: the second depends on the first. */
  async function outOfOrder() {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const open = async () => {
      const client = await RealtimeSocket.connect(server, token)
      await client.open()
      await client.openEditor()
      await client.takeFrame('syncStep1')
      return client
    }
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (const word of ['Hello', ' world']) doc.getText('content').insert(doc.getText('content').length, word)
    const [first, second] = updates as [Uint8Array, Uint8Array]
    const content = async () =>
      (await tenant.client.crdt.get({ organizationId: 'org_1', documentId: 'doc_1' })).data[0]?.data
    return { clients: [await open(), await open()] as const, doc, first, second, content }
  }

  test('[R8.4] the server requests the update that a received one depends on, and acknowledges both once it arrives', async () => {
    const { clients, doc, second, content } = await outOfOrder()
    const [ada] = clients
    ada.sendFrame('update', second, 1, 1)
    const { bytes: known } = await ada.takeFrame('syncStep1')
    await ada.settled()
    expect(ada.frames).toEqual([])
    expect(await content()).toBeUndefined()
    ada.sendFrame('syncStep2', Y.encodeStateAsUpdate(doc, known), 1, 2)
    await eventually(() => ada.frames.findLast(({ kind }) => kind === 'saved')?.number).toBe(2)
    expect(ada.frames.filter(({ kind }) => kind === 'refused')).toEqual([])
    expect(await content()).toBe('Hello world')
  })

  test('[R8.4] an update is stored when another client sends the update it depends on', async () => {
    const { clients, first, second, content } = await outOfOrder()
    const [ada, other] = clients
    ada.sendFrame('update', second, 1, 1)
    await ada.takeFrame('syncStep1')
    other.sendFrame('update', first, 1, 1)
    expect(await ada.takeFrame('saved')).toMatchObject({ number: 1 })
    expect(await content()).toBe('Hello world')
  })
})
