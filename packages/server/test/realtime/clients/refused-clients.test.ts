import { once } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import * as given from '../../support/given.ts'
import { anyStore, startServer, type TestServer, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const open = (server: Pick<TestServer, 'url'>, token: string, name = editorName) =>
  new RawSocket(server, `/yjs/${name}?token=${token}`)

/** Opens a connection whose close the server delays for 15 s, because the same client was refused five times before. */
async function delayedClose(server: TestServer, token: string, name?: string): Promise<RawSocket> {
  const until = server.clock.offsetMs + 40_000
  await open(server, token, name).closed
  for (let attempt = 0; attempt < 20; attempt++) {
    const raw = open(server, token, name)
    await raw.connected()
    // The server reads no message of a client before it has decided, so a pong means that the close is delayed.
    await raw.flushed()
    const isOpen = raw.socket.readyState === WebSocket.OPEN
    if (isOpen && server.clock.offsetMs >= until) return raw
    if (isOpen) server.clock.offsetMs += 10_000
    raw.terminate()
  }
  throw new Error('The server closes every connection at once.')
}

describe('refused y-websocket clients', () => {
  const server = useServer(anyStore, { isOwn: true })

  test('[R46] [R46.1] a client that is refused again gets the same code and reason after a delay of 1 s', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'locked')
    await given.document(tenant)
    const token = await tokenFor(tenant)
    const refusals = [
      { token: 'x', code: 4401 },
      { token: `${token}x`, code: 4401 },
      { token, name: 'org_1/locked/note', code: 4403 },
      { token, name: 'org_1/note', code: 4400 },
    ]
    await Promise.all(
      refusals.map(async ({ token: one, name, code }) => {
        const first = await open(server.one, one, name).closed
        expect(first.code).toBe(code)
        // Taken before the server's delay begins, because a busy machine may report `open` to the client much later.
        const startedAt = performance.now()
        const again = open(server.one, one, name)
        expect(await again.closed).toEqual(first)
        // The timers of client and server may differ by some milliseconds.
        expect(performance.now() - startedAt).toBeGreaterThan(900)
      }),
    )
  })

  test('[R46.1] a client that sends the same oversize message again is closed with a delay', async () => {
    const token = await tokenFor(await given.tenant(server))
    const send = async () => {
      const startedAt = performance.now()
      const socket = open(server.one, token)
      await socket.receivedCount(1)
      socket.send(Buffer.alloc(3 * 1024 * 1024))
      return { ...(await socket.closed), tookMs: performance.now() - startedAt }
    }
    const close = { code: 4422, reason: 'A message has at most 1 MiB and 64 KiB.' }
    expect(await send()).toMatchObject(close)
    const second = await send()
    expect(second).toMatchObject(close)
    expect(second.tookMs).toBeGreaterThan(500)
  })

  test(
    '[R46.1] a provider that keeps reconnecting gets the reason each time, at growing intervals',
    { timeout: 60_000 },
    async () => {
      const tenant = await given.tenant(server)
      await given.restrictedDocument(tenant, 'locked')
      const times: number[] = []
      const reasons = new Set<string>()
      const { provider } = yjsClient(server, await tokenFor(tenant), {
        name: 'org_1/locked/note',
        connect: false,
        // Versions before 3.1 reconnect after every close.
        shouldReconnect: () => true,
      })
      provider.on('connection-close', (event) => {
        times.push(performance.now())
        reasons.add(`${event?.code} ${event?.reason}`)
      })
      provider.connect()
      await expect.poll(() => times.length, { timeout: 30_000 }).toBe(3)
      expect(reasons).toEqual(new Set(['4403 The user may not open this document.']))
      const [first = 0, second = 0, third = 0] = times
      expect(second - first).toBeGreaterThan(900)
      expect(third - second).toBeGreaterThan(1_900)
    },
  )

  test('[R46.4] a connected client that loses access is closed at once although it was refused before', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'locked')
    const token = await tokenFor(tenant, 'ada', { resources: [] })
    const resources = [{ type: 'document' as const, id: 'locked', organizationId: 'org_1' }]
    const name = 'org_1/locked/note'
    await delayedClose(server, token, name)
    await tenant.client.permissions.add({ user: { userId: 'ada' }, permissions: { resources } })
    const ada = yjsClient(server, token, { name, connect: false })
    const end = new Promise((resolve) => ada.provider.on('closed', resolve))
    ada.provider.connect()
    await synced(ada)
    // The next refusal of ada would be delayed for 15 s, as this one.
    const other = await delayedClose(server, await tokenFor(tenant, 'bob', { resources: [] }), name)
    await tenant.client.permissions.remove({ userId: 'ada', permissions: { resources } })
    expect(await end).toMatchObject({ code: 4403 })
    expect(other.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('[R46.5] neither a refused y-websocket client nor a viewer that writes prints a warning, which would contain the token', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'locked')
    const denied = yjsClient(server, await tokenFor(tenant), { name: 'org_1/locked/note', connect: false })
    const end = new Promise((resolve) => denied.provider.on('closed', resolve))
    denied.provider.connect()
    expect(await end).toMatchObject({ code: 4403 })
    const ada = yjsClient(server, await tokenFor(tenant))
    const viewer = yjsClient(server, await tokenFor(tenant, 'vic', { role: 'viewer' }))
    await synced(ada, viewer)
    viewer.text.insert(0, 'not stored')
    ada.text.insert(0, 'stored')
    await eventually(() => viewer.text.toString()).toContain('stored')
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('connections with a delayed close', () => {
  test('[R46.2] a shutdown ends the delay of a close at once', async () => {
    const server = await startServer(anyStore)
    const delayed = await delayedClose(server, 'x')
    await server.stop()
    expect(await delayed.closed).toMatchObject({ code: 1012 })
  })

  test('[R46.2] a malformed message during the delay of a close is ignored', async () => {
    const server = await startServer(anyStore)
    onTestFinished(() => server.stop())
    const delayed = await delayedClose(server, 'x')
    delayed.send(Buffer.from('no message'))
    await delayed.flushed()
    expect(delayed.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('[R46.3] delayed connections count as connections and are at most a tenth of LIMIT_CONNECTIONS', async () => {
    const server = await startServer('sqlite', { env: { LIMIT_CONNECTIONS: '10' } })
    onTestFinished(() => server.stop())
    const delayed = await delayedClose(server, 'x')
    expect(await open(server, 'x').closed).toMatchObject({ code: 4401 })
    expect(delayed.socket.readyState).toBe(WebSocket.OPEN)

    const token = await tokenFor(await given.tenant(server))
    const others = Array.from({ length: 9 }, () => open(server, token))
    await Promise.all(others.map((socket) => socket.receivedCount(1)))
    const [, response] = await once(open(server, token).socket, 'unexpected-response')
    expect(response.statusCode).toBe(503)
    delayed.terminate()
    const canConnect = () =>
      open(server, token)
        .connected()
        .then(
          () => true,
          () => false,
        )
    await eventually(canConnect).toBe(true)
  })
})
