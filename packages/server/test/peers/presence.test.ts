import { describe, expect, onTestFinished, test } from 'vitest'
import { countSeconds } from '../support/clock.ts'
import { createMemoryLinks } from '../../src/platform/server-link/memory-link.ts'
import { eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient } from '../support/clients/hocuspocus-client.ts'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { DocumentView, RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { startServer, type TestServer } from '../support/harness.ts'
import { linksThatConnect } from '../support/servers/links.ts'
import { cuttableLink, useTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

const minute = 60_000

/** Opens the document as a backend, which receives the list and is not listed. */
async function watch(server: TestServer, tenant: given.Tenant) {
  const socket = new RealtimeSocket(server, { headers: tenant.headers })
  await socket.take('ready')
  const view = new DocumentView(socket)
  await socket.open()
  return Object.assign(view, { socket })
}

async function enter(server: TestServer, tenant: given.Tenant, userId: string) {
  const socket = await RealtimeSocket.connect(server, await tokenFor(tenant, userId))
  await socket.open()
  return socket
}

describe.each(linksThatConnect)('presence on two servers with the link %s', (link) => {
  const [a, b] = useTwoServers(link)

  test('[B4] everybody sees the same list, with users of all protocols on both servers', async () => {
    const tenant = await given.tenant(a)
    const ada = await enter(a, tenant, 'ada')
    const views = [await watch(a, tenant), await watch(b, tenant)] as const
    const hope = hocuspocusClient(a, await tokenFor(tenant, 'hope'))
    const yves = yjsClient(b, await tokenFor(tenant, 'yves'))
    const connection = plenumConnection(b.client(), await tokenFor(tenant, 'pam'))
    const pam = connection.document('org_1', 'doc_1')
    await synced(hope, yves)
    const everybody = { ada: 'online', hope: 'online', pam: 'online', yves: 'online' }
    for (const view of views) await eventually(() => view.present).toEqual(everybody)
    await eventually(() => pam.presence.users.map(({ userId }) => userId).toSorted()).toEqual(
      Object.keys(everybody),
    )
    ada.send({ type: 'setPresence', ref: 1, status: 'away', data: { page: 3 } })
    await eventually(() => views[1].users.get('ada')).toMatchObject({
      onlineStatus: 'away',
      data: { page: 3 },
    })
    // Also the time of the last change is the same.
    const entries = (view: DocumentView) =>
      [...view.users].toSorted(([one], [other]) => (one < other ? -1 : 1))
    await eventually(() => entries(views[1])).toEqual(entries(views[0]))
    await ada.close()
    hope.provider.destroy()
    yves.provider.destroy()
    connection.close()
    for (const view of views) await eventually(() => view.present).toEqual({})
  })

  test('[B4] a user with clients on two servers is shown with the more active status of the two, and with the latest data', async () => {
    const tenant = await given.tenant(a)
    const views = [await watch(a, tenant), await watch(b, tenant)] as const
    const there = await enter(b, tenant, 'ada')
    // Otherwise this server could hear of the entry after the next update, and the entry would be the latest.
    await eventually(() => views[0].users.get('ada')?.onlineStatus).toBe('online')
    const here = await enter(a, tenant, 'ada')
    const shown = () => views.map(({ users }) => [users.get('ada')?.onlineStatus, users.get('ada')?.data])
    here.send({ type: 'setPresence', ref: 1, status: 'away', data: { at: 'here' } })
    await eventually(shown).toEqual([
      ['online', { at: 'here' }],
      ['online', { at: 'here' }],
    ])
    there.send({ type: 'setPresence', ref: 1, data: { at: 'there' } })
    await eventually(shown).toEqual([
      ['online', { at: 'there' }],
      ['online', { at: 'there' }],
    ])
    // The entry of this server has not changed, but it is the latest again.
    here.send({ type: 'setPresence', ref: 1, data: { at: 'here' } })
    await eventually(shown).toEqual([
      ['online', { at: 'here' }],
      ['online', { at: 'here' }],
    ])
    await there.close()
    await eventually(shown).toEqual([
      ['away', { at: 'here' }],
      ['away', { at: 'here' }],
    ])
  })

  test('[B4.1] silence makes a user away and offline on all servers, even if their clocks differ', async () => {
    const tenant = await given.tenant(a)
    onTestFinished(() => void (a.clock.offsetMs = 0))
    const view = await watch(b, tenant)
    const sal = await enter(a, tenant, 'sal')
    await eventually(() => view.present).toEqual({ sal: 'online' })
    await sal.settled()
    a.clock.offsetMs = 5 * minute + 1_000
    await eventually(() => view.present).toEqual({ sal: 'away' })
    a.clock.offsetMs = 10 * minute + 1_000
    await eventually(() => view.present).toEqual({ sal: 'offline' })
    sal.send({ type: 'setPresence', ref: 1 })
    await eventually(() => view.present).toEqual({ sal: 'online' })
  })

  test('[B4.2] a user who moves to another server, and connects there before the old connection ends, stays in the list', async () => {
    const tenant = await given.tenant(a)
    const views = [await watch(a, tenant), await watch(b, tenant)] as const
    const before = await enter(a, tenant, 'ada')
    for (const view of views) await eventually(() => view.present).toEqual({ ada: 'online' })
    const after = await enter(b, tenant, 'ada')
    after.send({ type: 'setPresence', ref: 1, data: { moved: true } })
    await eventually(() => views[0].users.get('ada')?.data).toEqual({ moved: true })
    await before.close()
    await enter(a, tenant, 'last')
    for (const view of views) {
      await eventually(() => view.present).toEqual({ ada: 'online', last: 'online' })
      expect(view.socket.messages.flatMap((one) => (one.type === 'presence' ? one.left : []))).toEqual([])
    }
  })
})

describe('presence when servers end', () => {
  test('[B4.3] users of a server that cannot be reached leave within 35 s and come back, and those of a server that stops leave at once', async () => {
    const speed = 20
    const createLink = createMemoryLinks()
    const cuttable = cuttableLink(createLink())
    const a = await startServer('postgres', { link: cuttable.link, clockSpeed: speed })
    const b = await startServer('postgres', { link: createLink(), clockSpeed: speed, data: a.data })
    onTestFinished(() => b.stop())
    const tenant = await given.tenant(a)
    const views = [await watch(a, tenant), await watch(b, tenant)] as const
    const clients = [await enter(a, tenant, 'ada'), await enter(b, tenant, 'bob')]
    // Clients at /realtime send pings.
    const pings = setInterval(() => clients.forEach((client) => client.send({ type: 'ping' })), 500)
    onTestFinished(() => clearInterval(pings))
    const present = () => views.map((view) => Object.keys(view.present))
    await eventually(present).toEqual([
      ['ada', 'bob'],
      ['ada', 'bob'],
    ])
    const seconds = countSeconds(speed)
    cuttable.cut()
    await eventually(present).toEqual([['ada'], ['bob']])
    // And a second for the message.
    expect(seconds()).toBeLessThanOrEqual(36)
    cuttable.restore()
    await eventually(present).toEqual([
      ['ada', 'bob'],
      ['ada', 'bob'],
    ])
    await a.stop()
    await eventually(() => Object.keys(views[1].present)).toEqual(['bob'])
  })
})
