import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }
const full = {
  status: 'RESOURCE_EXHAUSTED',
  message:
    'A document has at most 1,000 live states and 16 MiB of them. Set one that exists to a smaller value.',
}
/** An array of numbers, whose JSON is slow to parse. */
const dense = (bytes: number) => Array.from({ length: bytes / 2 }, () => 1)
const long = (bytes: number) => 'x'.repeat(bytes)

describe.each(stores)('limits of live state on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const connect = async (tenant: given.Tenant) =>
    RealtimeSocket.connect(server, await tokenFor(tenant, 'ada'))
  const broadcast = ({ client }: given.Tenant, liveStateDataId: string, data: Record<string, unknown>) =>
    client.liveState.broadcast({ ...documentRef, liveStateDataId, data })
  /** What a client that opens the document now receives: the values that have been broadcast, then the newer ones. */
  const openView = async (tenant: given.Tenant) => {
    const client = await connect(tenant)
    const view = new DocumentView(client)
    await client.open()
    return view
  }
  /** Fills the document with live states `s0` to `s<count - 1>`. Their texts have this many bytes. */
  async function fill(tenant: given.Tenant, count: number, bytes: number) {
    await given.document(tenant)
    const { organizationId: organization_id, documentId: document_id } = documentRef
    await server.database.write((db) =>
      db
        .insertInto('live_states')
        .values(
          Array.from({ length: count }, (_, index) => ({
            api_key: tenant.apiKey,
            organization_id,
            document_id,
            live_state_data_id: `s${index}`,
            data: JSON.stringify({ x: long(bytes) }),
            seq: 1,
            updated_by: 'u',
            last_updated: 1,
          })),
        )
        .execute(),
    )
    // It numbers the changes of the document.
    await broadcast(tenant, 's0', { x: long(bytes) })
  }

  test('[R13.3] [16.1.2] neither a backend nor a client can add a live state to a document that has 1,000', async () => {
    const tenant = await given.tenant(server)
    await fill(tenant, 998, 1)
    const client = await connect(tenant)
    await client.open()
    expect(await client.set('s998', {})).toMatchObject({ type: 'done' })
    await broadcast(tenant, 's999', { by: 'backend' })
    await expect(broadcast(tenant, 'more', {})).rejects.toMatchObject(full)
    await broadcast(tenant, 's0', { by: 'backend' })
    expect(await client.set('more', {})).toMatchObject({ type: 'error', ...full })
  })

  test('[R13.3] [16.1.2] neither a backend nor a client can set more than 16 MiB in a document, and both can always set a smaller value', async () => {
    const tenant = await given.tenant(server)
    await fill(tenant, 16, 1_000_000)
    const client = await connect(tenant)
    await client.open('doc_1', { topics: [] })
    await expect(broadcast(tenant, 'more', { x: long(1_000_000) })).rejects.toMatchObject(full)
    expect(await client.set('more', { x: long(1_000_000) })).toMatchObject({ type: 'error', ...full })
    expect(await client.set('s0', { x: long(990_000) }, { merge: true })).toMatchObject({ type: 'done' })
    await broadcast(tenant, 's1', { x: 1 })
    await broadcast(tenant, 'more', { x: long(1_000_000) })
  })

  test('[S2] opening a document with 4 MB of live state does not block the event loop', async () => {
    const tenant = await given.tenant(server)
    await fill(tenant, 4, 1_000_000)
    const token = await tokenFor(tenant, 'ada', { role: 'viewer' })
    const open = async () => {
      const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/realtime?token=${token}`)
      await once(socket, 'message')
      socket.send(JSON.stringify({ type: 'open', ref: 1, ...documentRef, topics: ['liveState'] }))
      const [opened] = (await once(socket, 'message')) as [Buffer]
      expect(opened.length).toBeGreaterThan(4_000_000)
      socket.terminate()
    }
    await expectShortIterations(open)
  })

  test('[R13.1] large values that are set at the same time all arrive', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connect(tenant), await connect(tenant)]
    const view = new DocumentView(bob)
    await ada.open()
    await bob.open()
    const names = Array.from({ length: 6 }, (_, index) => `s${index}`)
    const outcomes = await Promise.all(
      names.map((name) => ada.set(name, { name, x: dense(50_000) }, { merge: true })),
    )
    expect(outcomes).toMatchObject(names.map(() => ({ type: 'done' })))
    await eventually(() => names.map((name) => view.data(name)?.name)).toEqual(names)
  })

  test('[R13] large values that several clients merge at the same time keep the keys of all clients', async () => {
    const tenant = await given.tenant(server)
    const clients = await Promise.all(Array.from({ length: 4 }, () => connect(tenant)))
    await Promise.all(clients.map((client) => client.open('doc_1', { topics: [] })))
    await broadcast(tenant, 's', { stored: dense(40_000), number: 1.5, text: 'é"\\' })
    const outcomes = await Promise.all(
      clients.map((client, i) => client.set('s', { [`k${i}`]: dense(40_000) }, { merge: true })),
    )
    expect(outcomes).toMatchObject(clients.map(() => ({ type: 'done' })))
    const view = await openView(tenant)
    const keys = () => Object.keys(view.data('s') ?? {}).sort()
    await eventually(keys).toEqual(['k0', 'k1', 'k2', 'k3', 'number', 'stored', 'text'])
    expect(view.data('s')).toMatchObject({ number: 1.5, text: 'é"\\', k3: dense(40_000) })
  })

  test('[R13] a client that merges a value beyond 1 MiB gets an error and can continue', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { topics: [] })
    const [first, second, third] = await Promise.all([
      client.set('s', { x: dense(700_000) }),
      client.set('s', { y: dense(700_000) }, { merge: true }),
      client.set('s', { x: 1 }, { merge: true }),
    ])
    expect(first).toMatchObject({ type: 'done' })
    expect(second).toMatchObject({ type: 'error', status: 'INVALID_ARGUMENT' })
    expect(third).toMatchObject({ type: 'done' })
    const view = await openView(tenant)
    await eventually(() => view.data('s')).toEqual({ x: 1 })
  })

  test('[R10.5] messages before and after a large message are applied in order, even if the client disconnects', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { topics: [] })
    const set = (data: Record<string, unknown>) =>
      client.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 's', data, merge: true })
    set({ a: 1, b: 1 })
    set({ b: 2, c: 2, x: dense(100_000) })
    set({ c: 3, x: 3 })
    client.socket.close()
    const view = await openView(tenant)
    await eventually(() => view.data('s')).toEqual({ a: 1, b: 2, c: 3, x: 3 })
  })

  test.each([
    ['is not JSON', (json: string) => json.slice(0, -1), 4400],
    ['lacks a field', (json: string) => json.replace('"ref":1,', ''), 4400],
  ])('[R10.1] a large message that %s closes the connection', async (_name, change, code) => {
    const client = await connect(await given.tenant(server))
    const message = { type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 's', data: { x: dense(100_000) } }
    client.socket.send(change(JSON.stringify(message)))
    expect(await client.closed).toMatchObject({ code })
  })

  test('[R13] the server refuses a large message whose text cannot be stored', async () => {
    const client = await connect(await given.tenant(server))
    await client.open('doc_1', { topics: [] })
    expect(await client.set('s', { x: dense(100_000), y: '\0' })).toMatchObject({
      type: 'error',
      status: 'INVALID_ARGUMENT',
      message: 'data.y must not contain the NUL character.',
    })
    expect(await client.set('s', { y: 1 })).toMatchObject({ type: 'done' })
  })
})
