import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { leastHeld } from './event-loop.ts'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'
import { eventually, tokenFor } from './live.ts'
import { RealtimeClient, View } from './realtime-client.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1' }
const full = {
  status: 'RESOURCE_EXHAUSTED',
  message:
    'A document has at most 1,000 live states and 16 MiB of them. Set one that exists to a smaller value.',
}
/** JSON that takes long to parse. */
const dense = (bytes: number) => Array.from({ length: bytes / 2 }, () => 1)

describe.each(stores)('the limits of live state on %s', (store) => {
  const server = useServer(store)
  const connect = async (tenant: given.Tenant) =>
    RealtimeClient.connect(server, await tokenFor(tenant, 'ada'))
  const broadcast = ({ client }: given.Tenant, liveStateDataId: string, data: Record<string, unknown>) =>
    client.liveState.broadcast({ ...place, liveStateDataId, data })
  const fill = async (tenant: given.Tenant) => {
    for (let index = 0; index < 16; index++) await broadcast(tenant, `s${index}`, { x: dense(1_000_000) })
  }

  test('[R13] a backend cannot set more than 1,000 live states in a document', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    await Promise.all(Array.from({ length: 1000 }, (_, index) => client.set(`s${index}`, { index })))
    await expect(broadcast(tenant, 'more', {})).rejects.toMatchObject(full)
    await broadcast(tenant, 's999', { by: 'backend' })
    expect(await client.set('more', {})).toMatchObject({ type: 'error', ...full })
  })

  test('[R13] a backend cannot set more than 16 MiB in a document, and can always set a smaller value', async () => {
    const tenant = await given.tenant(server)
    await fill(tenant)
    await expect(broadcast(tenant, 'more', { x: dense(1_000_000) })).rejects.toMatchObject(full)
    await broadcast(tenant, 's1', { x: 1 })
    await broadcast(tenant, 'more', { x: dense(1_000_000) })
  })

  test('[S2] opening a document with 16 MiB of live state does not hold the event loop', async () => {
    const tenant = await given.tenant(server)
    await fill(tenant)
    const token = await tokenFor(tenant, 'ada', { role: 'viewer' })
    const open = async () => {
      const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/realtime?token=${token}`)
      await once(socket, 'message')
      socket.send(JSON.stringify({ type: 'open', ref: 1, ...place, topics: ['liveState'] }))
      const [opened] = (await once(socket, 'message')) as [Buffer]
      expect(opened.length).toBeGreaterThan(16_000_000)
      socket.terminate()
    }
    expect(await leastHeld(open)).toBeLessThan(50)
  })

  test('[R13] large values that are set together arrive, each once', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connect(tenant), await connect(tenant)]
    const view = new View(bob)
    await ada.open()
    await bob.open()
    const names = Array.from({ length: 6 }, (_, index) => `s${index}`)
    const outcomes = await Promise.all(
      names.map((name) => ada.set(name, { name, x: dense(500_000) }, { merge: true })),
    )
    expect(outcomes).toMatchObject(names.map(() => ({ type: 'done' })))
    await eventually(() => names.map((name) => view.data(name)?.name)).toEqual(names)
  })
})
