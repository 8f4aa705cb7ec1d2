import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('live states over sockets on %s', (store) => {
  const server = useServer(store)
  const connect = async (tenant: given.Tenant, userId = 'ada', role?: 'viewer' | 'editor') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId, { role }))
  const stored = async (tenant: given.Tenant) => {
    const list = await storedLiveStates(server, tenant)
    return Object.fromEntries(list.map(({ liveStateDataId, data }) => [liveStateDataId, data]))
  }

  test('[R13] Broadcast Event reaches clients at once, also with merge, and late joiners get the stored value', async () => {
    const tenant = await given.tenant(server)
    const channel = { ...documentRef, liveStateDataId: 'player' }
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    await tenant.client.liveState.broadcast({ ...channel, data: { isPlaying: true, at: 1 } })
    const received = await client.take('liveState')
    expect(received).toEqual({
      type: 'liveState',
      ref: 1,
      position: { epoch: expect.any(String), seq: 1 },
      states: [
        {
          id: hash('sha256', 'player', 'hex').slice(0, 32),
          liveStateDataId: 'player',
          data: { isPlaying: true, at: 1 },
          lastUpdated: expect.any(Number),
          updatedBy: { userId: 'rest-api' },
        },
      ],
    })
    await tenant.client.liveState.broadcast({ ...channel, data: { at: 2 }, merge: true })
    await eventually(() => view.data('player')).toEqual({ isPlaying: true, at: 2 })
    const late = await connect(tenant, 'bob')
    expect(await late.open()).toMatchObject({
      reset: true,
      position: { seq: 2 },
      liveStates: [{ liveStateDataId: 'player', data: { isPlaying: true, at: 2 } }],
    })
  })

  test('[R13.1] a live state that a client sets is stored when acknowledged and is sent once to all clients, including its sender', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connect(tenant), await connect(tenant, 'bob')]
    await ada.open()
    await bob.open()
    const done = await ada.set('board', { a: { deep: 1 }, b: 1 })
    expect(done).toEqual({ type: 'done', id: 1, position: { epoch: expect.any(String), seq: 1 } })
    expect(await stored(tenant)).toEqual({ board: { a: { deep: 1 }, b: 1 } })
    for (const client of [ada, bob]) {
      expect(await client.take('liveState')).toMatchObject({
        position: { seq: 1 },
        states: [{ liveStateDataId: 'board', data: { a: { deep: 1 }, b: 1 }, updatedBy: { userId: 'ada' } }],
      })
    }
    await bob.set('board', { a: { other: 2 } }, { merge: true })
    for (const client of [ada, bob]) {
      expect(await client.take('liveState')).toMatchObject({
        position: { seq: 2 },
        states: [{ data: { a: { other: 2 }, b: 1 }, updatedBy: { userId: 'bob' } }],
      })
    }
    await ada.set('board', {})
    for (const client of [ada, bob]) {
      expect(await client.take('liveState')).toMatchObject({ states: [{ data: {} }] })
      await client.settled()
      expect(client.messages.filter(({ type }) => type === 'liveState')).toEqual([])
    }
  })

  test('[R13.1] each of 300 quick changes is acknowledged, and the stored value is the same as after sequential changes', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    const count = 300
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        index % 100 === 50
          ? client.set('one', { replaced: index })
          : client.set(index % 2 ? 'one' : 'two', { [`k${index}`]: index }, { merge: true }),
      ),
    )
    expect(outcomes.every(({ type }) => type === 'done')).toBe(true)
    const one: Record<string, number> = { replaced: 250 }
    const two: Record<string, number> = {}
    for (let index = 0; index < count; index++) {
      if (index % 2 === 1 && index > 250) one[`k${index}`] = index
      if (index % 2 === 0 && index % 100 !== 50) two[`k${index}`] = index
    }
    expect(await stored(tenant)).toEqual({ one, two })
    await eventually(() => [view.data('one'), view.data('two')]).toEqual([one, two])
    expect(view.positions).toEqual([...view.positions].sort((a, b) => a - b))
    expect(view.position?.seq).toBeLessThan(count)
  })

  test('[R13.2] a viewer can read live states and cannot set them', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const [viewer, editor] = [await connect(tenant, 'vic', 'viewer'), await connect(tenant)]
    expect(await viewer.open()).toMatchObject({ accessRole: 'viewer' })
    await editor.open()
    expect(await viewer.set('a', { forged: true })).toEqual({
      type: 'error',
      id: 1,
      ref: 1,
      status: 'PERMISSION_DENIED',
      message: 'The user may read this document, but not change it.',
    })
    await editor.set('a', { real: true })
    expect(await viewer.take('liveState')).toMatchObject({ states: [{ data: { real: true } }] })
    expect(await stored(tenant)).toEqual({ a: { real: true } })
  })

  test('[R13] a live state has at most 1 MiB, and one that is too large does not affect others set at the same time', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    const half = 'x'.repeat(600 * 1024)
    expect(await client.set('a', { one: half })).toMatchObject({ type: 'done' })
    const [refused, ...done] = await Promise.all([
      client.set('a', { two: half }, { merge: true }),
      client.set('a', { small: 1 }, { merge: true }),
      client.set('b', { small: 1 }),
    ])
    expect(refused).toMatchObject({
      type: 'error',
      status: 'INVALID_ARGUMENT',
      message: 'Live state must not be larger than 1 MiB.',
    })
    expect(done).toMatchObject([{ type: 'done' }, { type: 'done' }])
    expect(await stored(tenant)).toEqual({ a: { one: half, small: 1 }, b: { small: 1 } })
  })

  test('[R13.3] clients can add up to 1,000 live states to a document and change the existing ones', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    // Without waiting for each answer.
    for (let n = 1; n < 1000; n++) {
      client.send({ type: 'setLiveState', ref: 1, id: 1000 + n, liveStateDataId: `s${n}`, data: { n } })
    }
    expect(await client.set('s1000', {})).toMatchObject({ type: 'done' })
    await eventually(() => view.states.size).toBe(1000)
    expect(await client.set('more', {})).toMatchObject({ type: 'error', status: 'RESOURCE_EXHAUSTED' })
    expect(await client.set('s999', { again: true })).toMatchObject({ type: 'done' })
  })

  test('[R13] live states are separate for each document, organization and API key', async () => {
    const [tenant, stranger] = [await given.tenant(server), await given.tenant(server)]
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    const foreign = await connect(stranger)
    await foreign.open()
    await foreign.set('a', { foreign: true })
    await client.open('doc_2', { ref: 2 })
    await client.open('doc_1', { ref: 3, organizationId: 'org_2' })
    await client.set('a', { other: 'document' }, { ref: 2 })
    await client.set('a', { other: 'organization' }, { ref: 3 })
    await client.set('a', { here: true })
    await eventually(() => view.data('a')).toEqual({ here: true })
    expect(view.positions).toEqual([0, 1])
    expect(await stored(tenant)).toEqual({ a: { here: true } })
  })

  test('[R13] a client that does not subscribe to live state receives none and can set it', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    expect(await client.open('doc_1', { topics: ['presence'] })).not.toHaveProperty('liveStates')
    expect(await client.set('a', { b: 1 })).toMatchObject({ type: 'done' })
    await client.settled()
    expect(client.messages.filter(({ type }) => type === 'liveState')).toEqual([])
    expect(await stored(tenant)).toEqual({ a: { b: 1 } })
  })

  test('[R13] [10.8.2] a document that is migrated into an open one brings its live states, and clients of the old one are closed with the reason', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    await backend.liveState.broadcast({
      ...documentRef,
      documentId: 'old',
      liveStateDataId: 'a',
      data: { from: 'old' },
    })
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    await client.set('b', { from: 'new' })
    const moving = await connect(tenant, 'bob')
    await moving.open('old')
    await backend.documents.migrate({ organizationId: 'org_1', documentId: 'old', newDocumentId: 'doc_1' })
    await eventually(() => view.data('a')).toEqual({ from: 'old' })
    expect(view.data('b')).toEqual({ from: 'new' })
    expect(await moving.take('closed')).toMatchObject({
      code: closeCodes.gone,
      reason: 'The document was moved to another id.',
    })
  })

  test('[R13.4] a client that reads slowly gets the newest values once it has caught up', async () => {
    const tenant = await given.tenant(server)
    const [slow, writer] = [await connect(tenant, 'sal'), await connect(tenant)]
    const view = new DocumentView(slow)
    await slow.open()
    await writer.open('doc_1', { topics: [] })
    let bytes = 0
    slow.socket.on('message', (data: Buffer) => void (bytes += data.length))
    slow.socket.pause()
    // More than the buffers of the operating system hold.
    const writes = 14
    const data = (n: number) => ({ n, filling: 'x'.repeat(900 * 1024) })
    for (let n = 1; n <= writes; n++) {
      expect(await writer.set('large', data(n))).toMatchObject({ type: 'done' })
      writer.send({ type: 'setPresence', ref: 1, data: { n } })
    }
    slow.socket.resume()
    await eventually(() => [view.data('large')?.n, view.users.get('ada')?.data?.n]).toEqual([writes, writes])
    expect(bytes).toBeLessThan(writes * 900 * 1024 * 0.8)
    expect(view.positions).toEqual([...view.positions].sort((a, b) => a - b))
    expect(await slow.set('small', {})).toMatchObject({ type: 'done' })
  })

  test('[R13] data with NUL characters or unpaired surrogates is refused as over REST, and the connection stays open', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    const nul = 'must not contain the NUL character.'
    const half = 'must not contain unpaired surrogates.'
    const cases: [Record<string, unknown>, string][] = [
      [{ note: 'a\0b' }, `data.note ${nul}`],
      [{ list: [1, { inner: '\ud83d' }] }, `data.list[1].inner ${half}`],
      [{ low: '\ude00\ud83d' }, `data.low ${half}`],
      [{ a: { 'k\0': 1 } }, `A key of data.a ${nul}`],
    ]
    for (const [data, message] of cases) {
      expect(await client.set('a', data)).toMatchObject({
        type: 'error',
        ref: 1,
        status: 'INVALID_ARGUMENT',
        message,
      })
      client.send({ type: 'setPresence', ref: 1, data })
      expect(await client.take('error')).toMatchObject({ ref: 1, status: 'INVALID_ARGUMENT', message })
    }
    // Two escaped halves of a pair are one valid character.
    const text = JSON.stringify({
      type: 'setLiveState',
      ref: 1,
      id: 9,
      liveStateDataId: 'a',
      data: { x: 'PAIR' },
    })
    client.socket.send(text.replace('PAIR', '\\ud83d\\ude00'))
    expect(await client.take('done')).toMatchObject({ id: 9, position: { seq: 1 } })
  })

  test('[R13] ids and keys that are property names of JavaScript objects, and strings with escapes, are returned unchanged', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    const odd = {
      constructor: { prototype: { polluted: 1 } },
      toString: 1,
      escapes: '\\u0000 \\ud800 😀',
      '': { '\u2028': 1 },
    }
    expect(await client.set('__proto__', odd)).toMatchObject({ type: 'done' })
    expect(await client.set('__proto__', { toString: 2 }, { merge: true })).toMatchObject({ type: 'done' })
    await eventually(() => view.data('__proto__')?.toString).toBe(2)
    expect(view.data('__proto__')).toEqual({ ...odd, toString: 2 })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('live state and the disk', () => {
  const disk = heldDisk()
  const server = useServer('sqlite', { sync: disk.sync })

  test('[R13.1] a live state is neither acknowledged nor broadcast before it is synced to disk', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map(async (userId) => RealtimeSocket.connect(server, await tokenFor(tenant, userId))),
    )
    if (!ada || !bob) throw new Error('There are two.')
    await ada.open()
    await bob.open()
    disk.hold()
    const done = ada.set('a', { b: 1 })
    await eventually(disk.waiting).toBe(1)
    expect((await storedLiveStates(server, tenant)).length).toBe(1)
    // A client that joins now does not receive it either.
    const late = new RealtimeSocket(server, { headers: tenant.headers })
    await late.take('ready')
    expect(await late.open()).toMatchObject({ position: { seq: 0 }, liveStates: [] })
    await ada.settled()
    await bob.settled()
    expect([ada, bob].flatMap(({ messages }) => messages).filter(({ type }) => type !== 'presence')).toEqual(
      [],
    )
    disk.release()
    expect(await done).toMatchObject({ type: 'done', position: { seq: 1 } })
    for (const client of [bob, late])
      expect(await client.take('liveState')).toMatchObject({ position: { seq: 1 } })
  })
})

describe.each(stores)('large live states on %s', (store) => {
  let releases: (() => void)[] | undefined
  const server = useServer(store, {
    beforeThreadWork: (kind) =>
      kind === 'parseMessage' && releases
        ? new Promise((resolve) => void releases?.push(resolve))
        : Promise.resolve(),
  })

  test('[R13.5] a large live state that is still being read when its socket breaks does not replace a newer one from the next socket', async () => {
    const tenant = await given.tenant(server)
    const network = interruptibleNetwork()
    const { WebSocket } = network
    const connection = plenumConnection(server.client(), await tokenFor(tenant), { WebSocket })
    const board = connection.document('org_1', 'doc_1').liveState('board')
    await board.set({ version: 1 })
    // Larger than what the server reads without a thread.
    const filling = 'x'.repeat(40_000)
    const held: (() => void)[] = []
    releases = held
    void board.set({ version: 2, filling })
    await eventually(() => held.length).toBe(1)
    releases = undefined
    network.cut()
    const newer = board.set({ version: 3 })
    network.restore(connection)
    await eventually(() => network.of('ready')).toHaveLength(1)
    // Requests of the backend: they give the server the time in which it would store the newer value.
    for (let turn = 0; turn < 20; turn++) await tokenFor(tenant)
    for (const release of held) release()
    await newer

    // Another large value is read after the first one.
    const bob = await RealtimeSocket.connect(server, await tokenFor(tenant, 'bob'))
    await bob.open()
    expect(await bob.set('other', { filling })).toMatchObject({ type: 'done' })
    const states = await storedLiveStates(server, tenant)
    expect(states.find(({ liveStateDataId }) => liveStateDataId === 'board')?.data).toEqual({ version: 3 })
    await eventually(() => board.value).toEqual({ version: 3 })
  })
})
