import type { ApiError, Connection, ConnectOptions, LiveDocument, LiveEditor } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { rounds } from '../../support/random/effort.ts'
import { createRandom } from '../../support/random/random.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

interface Client {
  connection: Connection
  document: LiveDocument
  editor: LiveEditor
  network: ReturnType<typeof interruptibleNetwork>
  errors: ApiError[]
  text: () => string
  type: (words: string) => void
}

function connect(server: Pick<TestServer, 'client'>, token: ConnectOptions['token']): Client {
  const network = interruptibleNetwork()
  const connection = plenumConnection(server.client(), token, { WebSocket: network.WebSocket })
  const document = connection.document('org_1', 'doc_1')
  const editor = document.editor('note', { type: 'text' })
  const errors: ApiError[] = []
  connection.on('error', (error) => errors.push(error))
  const content = editor.doc.getText('content')
  return {
    connection,
    document,
    editor,
    network,
    errors,
    text: () => content.toJSON(),
    type: (words) => content.insert(content.length, words),
  }
}

describe.each(stores)('live documents of the client on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  async function scene(...userIds: string[]) {
    const tenant = await given.tenant(server)
    const clients = await Promise.all(
      userIds.map(async (userId) => connect(server, await tokenFor(tenant, userId))),
    )
    await Promise.all(clients.map(({ editor }) => editor.whenSynced))
    return { tenant, clients: clients as [Client, Client] }
  }

  const stored = async ({ client }: given.Tenant) => (await client.crdt.get(editorRef)).data[0]

  test('[K7] two clients, a late joiner and a client of another protocol see the same text', async () => {
    const { tenant, clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    ada.type('Hello ')
    await eventually(bob.text).toBe('Hello ')
    bob.type('world')
    await eventually(ada.text).toBe('Hello world')
    const late = connect(server, await tokenFor(tenant, 'cleo'))
    await late.editor.whenSynced
    expect(late.text()).toBe('Hello world')
    const other = yjsClient(server, await tokenFor(tenant, 'dora'))
    await eventually(() => other.text.toJSON()).toBe('Hello world')
    other.text.insert(11, '!')
    for (const { text } of [ada, bob, late]) await eventually(text).toBe('Hello world!')
    await Promise.all(clients.map(({ editor }) => editor.whenSaved()))
    expect(await stored(tenant)).toMatchObject({ data: 'Hello world!' })
  })

  test('[K7] REST returns a change as soon as the editor reports it as saved', async () => {
    const { tenant, clients } = await scene('ada')
    const [ada] = clients
    for (let round = 0; round < 8; round++) {
      ada.type(`${round} `)
      expect(ada.editor.saved).toBe(false)
      await ada.editor.whenSaved()
      expect(await stored(tenant)).toMatchObject({ data: ada.text() })
    }
  })

  test('[K7] text typed offline arrives when the network is back', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    ada.type('before ')
    await ada.editor.whenSaved()
    ada.network.cut()
    ada.type('during ')
    await eventually(() => ada.editor.status).toBe('reconnecting')
    ada.type('and long after')
    bob.type('(meanwhile) ')
    await bob.editor.whenSaved()
    expect(ada.editor.saved).toBe(false)
    ada.network.restore(ada.connection)
    await ada.editor.whenSaved()
    await eventually(bob.text).toContain('during and long after')
    await eventually(ada.text).toBe(bob.text())
    expect(ada.text()).toContain('(meanwhile)')
    expect(ada.errors).toEqual([])
  })

  test('[K7] 500 changes of one client and 100 concurrent ones of another all arrive', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    for (let i = 0; i < 500; i++) ada.type(`${i},`)
    for (let i = 0; i < 100; i++) {
      bob.type(`${i};`)
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(clients.map(({ editor }) => editor.whenSaved()))
    await eventually(ada.text).toBe(bob.text())
    expect(ada.text().match(/,/g)).toHaveLength(500)
    expect(ada.text().match(/;/g)).toHaveLength(100)
  })

  test('[K7.2] changes of several MiB that were made offline are sent and stored, and so is a text of more than 1 MiB that is pasted', async () => {
    const { tenant, clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    ada.type('start ')
    await ada.editor.whenSaved()
    ada.network.cut()
    for (let pasted = 0; pasted < 4; pasted++) ada.type(`${pasted}${'offline '.repeat(60_000)}`)
    ada.editor.doc.getText('content').delete(0, 6)
    ada.network.restore(ada.connection)
    await ada.editor.whenSaved()
    ada.type('é'.repeat(700_000))
    ada.type('end')
    await ada.editor.whenSaved()
    const text = ada.text()
    expect(text.length).toBe(4 * (1 + 8 * 60_000) + 700_000 + 3)
    const [record] = (await tenant.client.crdt.get(editorRef)).data
    expect(record?.data === text).toBe(true)
    await eventually(() => bob.text() === text).toBe(true)
    expect([...ada.errors, ...bob.errors]).toEqual([])
  })

  test('[K7] three clients with random interruptions converge in text and live states, and their text is stored', async () => {
    const random = createRandom()
    const { tenant, clients } = await scene('ada', 'bob', 'cleo')
    const written: string[] = []
    for (let step = 0; step < rounds(120); step++) {
      const client = clients[random(clients.length)] as Client
      const content = client.editor.doc.getText('content')
      const dice = random(20)
      if (dice === 0) client.network.cut()
      else if (dice < 3) client.network.restore(client.connection)
      else if (dice < 6) void client.document.liveState(`s${random(3)}`).set({ step }, { merge: true })
      else if (dice < 8 && content.length > 0) content.delete(random(content.length), 1)
      else {
        const word = `<${step}>`
        written.push(word)
        content.insert(random(content.length + 1), word)
      }
      if (random(3) === 0) await new Promise((resolve) => setTimeout(resolve, random(5)))
    }
    for (const { network, connection } of clients) network.restore(connection)
    await Promise.all(clients.map(({ editor }) => editor.whenSaved()))
    const states = () =>
      new Set(
        clients.map(({ document, text }) =>
          JSON.stringify([text(), [0, 1, 2].map((n) => document.liveState(`s${n}`).value)]),
        ),
      )
    await expect.poll(() => states().size).toBe(1)
    expect(written.length).toBeGreaterThan(40)
    expect(await stored(tenant)).toMatchObject({ data: clients[0].text() })
    expect(clients.flatMap(({ errors }) => errors)).toEqual([])
  })

  test('[K9] an awareness state reaches other clients, is removed when its client disconnects, and returns when it reconnects', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    const seenBy = (who: Client, whom: Client) =>
      who.editor.awareness.getStates().get(whom.editor.doc.clientID)
    ada.editor.awareness.setLocalState({ cursor: 1 })
    bob.editor.awareness.setLocalState({ cursor: 2 })
    await eventually(() => seenBy(bob, ada)).toEqual({ cursor: 1 })
    await eventually(() => seenBy(ada, bob)).toEqual({ cursor: 2 })
    ada.network.cut()
    await eventually(() => seenBy(ada, bob)).toBeUndefined()
    await eventually(() => seenBy(bob, ada)).toBeUndefined()
    ada.network.restore(ada.connection)
    await eventually(() => seenBy(bob, ada)).toEqual({ cursor: 1 })
    await eventually(() => seenBy(ada, bob)).toEqual({ cursor: 2 })
    ada.editor.close()
    await eventually(() => seenBy(bob, ada)).toBeUndefined()
  })

  test('[K6] presence shows the connected users and the data they set', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    const seen = () =>
      Object.fromEntries(
        bob.document.presence.users.map((user) => [user.userId, [user.onlineStatus, user.data]]),
      )
    await eventually(seen).toEqual({ ada: ['online', undefined], bob: ['online', undefined] })
    ada.document.presence.set({ data: { cursor: 5 } })
    await eventually(seen).toEqual({ ada: ['online', { cursor: 5 }], bob: ['online', undefined] })
    ada.document.presence.set({ status: 'away' })
    await eventually(seen).toEqual({ ada: ['away', { cursor: 5 }], bob: ['online', undefined] })
    expect(bob.document.presence.users.find(({ userId }) => userId === 'ada')).toMatchObject({
      name: 'Name of ada',
      email: 'ada@example.com',
      source: 'client',
    })
    ada.network.cut()
    await eventually(seen).toEqual({ bob: ['online', undefined] })
    ada.network.restore(ada.connection)
    await eventually(seen).toEqual({ ada: ['away', { cursor: 5 }], bob: ['online', undefined] })
    ada.document.close()
    await eventually(seen).toEqual({ bob: ['online', undefined] })
  })

  test('[K5] a live state of a client or a backend reaches all clients, and a client shows its own changes at once', async () => {
    const { tenant, clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    const [mine, theirs] = clients.map(({ document }) => document.liveState('player')) as [
      ReturnType<LiveDocument['liveState']>,
      ReturnType<LiveDocument['liveState']>,
    ]
    await mine.set({ position: 1, playing: true })
    await eventually(() => theirs.value).toEqual({ position: 1, playing: true })
    await theirs.set({ position: 2 }, { merge: true })
    await eventually(() => mine.value).toEqual({ position: 2, playing: true })
    await tenant.client.liveState.broadcast({
      organizationId: 'org_1',
      documentId: 'doc_1',
      liveStateDataId: 'player',
      data: { position: 3 },
      merge: true,
    })
    for (const one of [mine, theirs])
      await eventually(() => one.value).toEqual({ position: 3, playing: true })
    const values: unknown[] = []
    theirs.subscribe((value) => values.push(value))
    const sets = Array.from({ length: 200 }, (_, n) => mine.set({ n }))
    expect(mine.value).toEqual({ n: 199 })
    await Promise.all(sets)
    await eventually(() => values.at(-1)).toEqual({ n: 199 })
    expect([...ada.errors, ...bob.errors]).toEqual([])
  })

  test('[K5.2] a live state merged offline is sent after the reconnect and overwrites only its own keys', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    await bob.document.liveState('player').set({ position: 1, speed: 1 })
    ada.network.cut()
    await eventually(() => ada.document.status).toBe('reconnecting')
    const set = ada.document.liveState('player').set({ position: 9 }, { merge: true })
    await bob.document.liveState('player').set({ position: 2, speed: 2 })
    ada.network.restore(ada.connection)
    await set
    for (const { document } of [ada, bob]) {
      await eventually(() => document.liveState('player').value).toEqual({ position: 9, speed: 2 })
    }
  })

  test('[K4] a client receives only the missed live states after a reconnect', async () => {
    const { clients } = await scene('ada', 'bob')
    const [ada, bob] = clients
    const value = (id: string) => ada.document.liveState(id).value
    for (const id of ['a', 'b', 'c']) await bob.document.liveState(id).set({ n: 1 })
    await eventually(() => value('c')).toEqual({ n: 1 })
    ada.network.cut()
    await eventually(() => ada.document.status).toBe('reconnecting')
    await bob.document.liveState('b').set({ n: 2 })
    await bob.document.liveState('d').set({ n: 2 })
    ada.network.restore(ada.connection)
    await eventually(() => value('d')).toEqual({ n: 2 })
    expect(['a', 'b', 'c'].map(value)).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }])
    const [opened] = ada.network.of('opened')
    expect(opened?.reset).toBe(false)
    expect(opened?.liveStates?.map(({ liveStateDataId }) => liveStateDataId).sort()).toEqual(['b', 'd'])
  })

  test('[K4] a document that is created again under the same id replaces all live states of the old one in the client', async () => {
    const { tenant, clients } = await scene('ada')
    const [ada] = clients
    await ada.document.liveState('old').set({ n: 1 })
    await ada.document.liveState('both').set({ n: 1 })
    ada.network.cut()
    await eventually(() => ada.document.status).toBe('reconnecting')
    const { client } = tenant
    await client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await client.liveState.broadcast({
      organizationId: 'org_1',
      documentId: 'doc_1',
      liveStateDataId: 'both',
      data: { n: 2 },
    })
    ada.network.restore(ada.connection)
    await eventually(() => ada.document.liveState('both').value).toEqual({ n: 2 })
    expect(ada.document.liveState('old').value).toBeUndefined()
    expect(ada.network.of('opened')[0]?.reset).toBe(true)
  })

  test('[K3] a deleted document is closed, and the other documents continue', async () => {
    const { tenant, clients } = await scene('ada')
    const [ada] = clients
    const other = ada.connection.document('org_1', 'doc_2')
    await eventually(() => other.status).toBe('connected')
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await eventually(() => ada.document.status).toBe('failed')
    expect(ada.document.ended?.code).toBe(4404)
    expect(ada.editor.status).toBe('failed')
    expect(other.status).toBe('connected')
    expect(ada.connection.status).toBe('connected')
  })

  test('[K3] a user without access to a document, or without a valid token, gets an error', async () => {
    const tenant = await given.tenant(server)
    const organizationId = await given.organization(tenant)
    const documents = [{ documentId: 'doc_1', accessType: 'restricted' as const }]
    await tenant.client.documents.add({ organizationId, documents })
    const eve = connect(server, await tokenFor(tenant, 'eve', { resources: [] }))
    await expect(eve.editor.whenSynced).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    expect(eve.document.status).toBe('denied')
    expect(eve.connection.status).toBe('connected')
    const unauthenticated = connect(server, 'no.valid.token')
    await expect(unauthenticated.editor.whenSynced).rejects.toMatchObject({ status: 'UNAUTHENTICATED' })
    expect(unauthenticated.connection.status).toBe('denied')
    expect(unauthenticated.connection.ended?.code).toBe(4401)
  })

  test('[K8.1] an editor who becomes a viewer keeps reading, and its changes are sent when it becomes an editor again', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['vic'])
    const token = await tokenFor(tenant, 'vic', { resources: [] })
    const role = (accessRole: 'viewer' | 'editor') =>
      tenant.client.permissions.add({
        user: { userId: 'vic' },
        permissions: { resources: [{ type: 'organization', id: 'org_1', accessRole }] },
      })
    await role('editor')
    const vic = connect(server, token)
    const ada = connect(server, await tokenFor(tenant))
    await vic.editor.whenSynced
    await ada.editor.whenSynced
    vic.type('kept ')
    await vic.editor.whenSaved()
    await role('viewer')
    await eventually(() => vic.editor.readOnly).toBe(true)
    expect(vic.document.accessRole).toBe('viewer')
    vic.type('held ')
    const denied = {
      status: 'PERMISSION_DENIED',
      message:
        'You are a viewer of org_1/doc_1: your changes stay on this device until you become an editor.',
    }
    await expect(vic.editor.whenSaved()).rejects.toMatchObject(denied)
    expect(vic.errors).toMatchObject([denied])
    await expect(vic.document.liveState('player').set({ n: 1 })).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
    })
    expect(vic.document.liveState('player').value).toBeUndefined()
    ada.type('read ')
    await eventually(vic.text).toContain('read ')
    expect(vic.editor.state).toEqual({ status: 'connected', saved: false, readOnly: true })
    expect(ada.text()).not.toContain('held')
    await role('editor')
    await eventually(() => vic.editor.readOnly).toBe(false)
    await vic.editor.whenSaved()
    await eventually(ada.text).toContain('held')
    await eventually(vic.text).toBe(ada.text())
  })
})

describe.each(stores)('live documents of the client over time on %s', (store) => {
  test('[K3.2] the client replaces a token before it expires, and also after it expired', async () => {
    const server = await startServer(store)
    try {
      const tenant = await given.tenant(server)
      let requests = 0
      const ada = connect(server, () => {
        requests++
        return tokenFor(tenant)
      })
      await ada.editor.whenSynced
      const [ready] = ada.network.of('ready')
      const secondsLeft = (ready?.expiresAt ?? 0) - Math.floor((Date.now() + server.clock.offsetMs) / 1000)
      server.clock.offsetMs += (secondsLeft - 30) * 1000
      await eventually(() => requests).toBe(2)
      await eventually(() => ada.network.of('ready').length).toBe(2)
      server.clock.offsetMs += 60_000
      ada.type('with the second token')
      await ada.editor.whenSaved()
      expect(ada.network.of('ready')[0]?.connectionId).toBe(ada.network.of('ready')[1]?.connectionId)

      server.clock.offsetMs += 7 * 24 * 3600 * 1000
      ada.type(', with the third')
      await ada.editor.whenSaved()
      expect(requests).toBe(3)
      expect(await tenant.client.crdt.get(editorRef)).toMatchObject({ data: [{ data: ada.text() }] })
      expect(ada.errors).toEqual([])
    } finally {
      await server.stop()
    }
  })

  test('[K2.1] [K5.2] [K7] a restarted server has everything that was saved and receives everything that was not', async () => {
    let server = await startServer(store)
    try {
      const tenant = await given.tenant(server)
      const [ada, bob] = [
        connect(server, await tokenFor(tenant)),
        connect(server, await tokenFor(tenant, 'bob')),
      ]
      await Promise.all([ada.editor.whenSynced, bob.editor.whenSynced])
      await ada.document.liveState('player').set({ n: 1 })
      ada.type('saved ')
      await ada.editor.whenSaved()
      const restarting = server.restart()
      await eventually(() => ada.connection.status).toBe('reconnecting')
      ada.type('typed without a server')
      const set = ada.document.liveState('player').set({ n: 2 })
      server = await restarting
      await Promise.all([ada.editor.whenSaved(), set])
      await eventually(bob.text).toBe('saved typed without a server')
      await eventually(() => bob.document.liveState('player').value).toEqual({ n: 2 })
      const late = connect(server, await tokenFor({ ...tenant, client: server.client(tenant) }, 'cleo'))
      await late.editor.whenSynced
      expect(late.text()).toBe('saved typed without a server')
      expect(ada.network.of('moved').length).toBe(1)
    } finally {
      await server.stop()
    }
  })
})

test('[K7] [K5] before changes are on disk, the editor is not saved, setting a live state does not resolve, and other clients see no text', async () => {
  const disk = heldDisk()
  const server = await startServer('sqlite', { sync: disk.sync })
  try {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      connect(server, await tokenFor(tenant)),
      connect(server, await tokenFor(tenant, 'bob')),
    ]
    await Promise.all([ada.editor.whenSynced, bob.editor.whenSynced])
    disk.hold()
    ada.type('on its way')
    const set = ada.document.liveState('player').set({ n: 1 })
    let isSet = false
    void set.then(() => (isSet = true))
    await eventually(disk.waiting).toBeGreaterThan(0)
    // The pong arrives after every message that the server sent before.
    for (const { connection, network } of [ada, bob]) {
      connection.reconnect()
      await eventually(() => network.of('pong').length).toBe(1)
    }
    expect(ada.editor.saved).toBe(false)
    expect(isSet).toBe(false)
    expect(bob.text()).toBe('')
    disk.release()
    await Promise.all([ada.editor.whenSaved(), set])
    await eventually(bob.text).toBe('on its way')
  } finally {
    disk.release()
    await server.stop()
  }
})
