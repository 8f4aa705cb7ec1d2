import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket } from '../../support/clients/hocuspocus-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

/** The lifetime of a user token. */
const userTokenSeconds = 48 * 60 * 60

/** Collects the events of a provider about its token. */
function collectEvents() {
  const received: string[] = []
  return {
    received,
    onAuthenticated: ({ scope }: { scope: string }) => void received.push(scope),
    onAuthenticationFailed: ({ reason }: { reason: string }) => void received.push(`failed: ${reason}`),
    onClose: ({ event }: { event: { code: number; reason: string } }) =>
      void received.push(`closed: ${event.code} ${event.reason}`),
  }
}

describe('tokens of Hocuspocus clients', () => {
  const server = useServer(anyStore, { isOwn: true })

  /** Moves the clock of the server until the test ends. */
  const moveClock = (ms: number) => {
    server.clock.offsetMs += ms
    onTestFinished(() => {
      server.clock.offsetMs = 0
    })
  }

  test('[R6] a provider accepts a token as a string, from a function or from an async function', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const clients = [
      hocuspocusClient(server, token),
      hocuspocusClient(server, () => token),
      hocuspocusClient(server, () => tokenFor(tenant, 'bob')),
    ]
    await synced(...clients)
    for (const { provider } of clients) expect(provider.isAuthenticated).toBe(true)
  })

  test('[R6.5] [R5.2] a provider without a valid token or editor name is denied with a reason, and the socket stays open', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    moveClock(-(userTokenSeconds + 60) * 1000)
    const expired = await tokenFor(tenant)
    server.clock.offsetMs = 0
    await given.restrictedDocument(tenant, 'locked')
    const socket = hocuspocusSocket(server)
    const cases = [
      ['a', '', /^failed: token_missing: The client sent no token\.$/],
      ['b', 'x', /^failed: token_invalid/],
      ['c', `${token}x`, /^failed: token_invalid/],
      ['d', expired, /^failed: token_expired/],
    ].map(([editor, token, reason]) => ({ name: `org_1/doc_1/${editor as string}`, token, reason }))
    cases.push(
      { name: 'org_1/locked/note', token, reason: /^failed: The user may not open this document\.$/ },
      { name: 'org_1/doc_1', token, reason: /^failed: The name of an editor is/ },
      { name: 'org_1//note', token, reason: /^failed: The name of an editor is/ },
    )
    for (const { name, token, reason } of cases) {
      const { received, ...events } = collectEvents()
      const { provider } = hocuspocusClient(server, token as string, { socket, name, ...events })
      await eventually(() => received).toEqual([expect.stringMatching(reason as RegExp)])
      expect(provider).toMatchObject({ isAuthenticated: false, isSynced: false })
    }
    const good = hocuspocusClient(server, token, { socket })
    await synced(good)
    expect(socket.status).toBe('connected')
  })

  test('[R6.5] a provider whose token function fails is denied, and another provider on the socket syncs', async () => {
    const tenant = await given.tenant(server)
    const socket = hocuspocusSocket(server)
    const { received, ...events } = collectEvents()
    const bad = hocuspocusClient(server, () => Promise.reject(new Error('no session')), {
      socket,
      name: 'org_1/doc_1/other',
      ...events,
    })
    const good = hocuspocusClient(server, await tokenFor(tenant), { socket })
    await synced(good)
    expect(received).toEqual([expect.stringContaining('no session')])
    expect(bad.provider.isSynced).toBe(false)
  })

  test('[R6.2] the server asks for a new token a minute before the old one expires, and the session continues', async () => {
    const tenant = await given.tenant(server)
    const { received, ...events } = collectEvents()
    let tokens = 0
    const ada = hocuspocusClient(server, () => tokenFor(tenant), {
      ...events,
      onOutgoingMessage: ({ message }) => (tokens += message.description === 'Authentication' ? 1 : 0),
    })
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    moveClock((userTokenSeconds - 90) * 1000)
    bob.text.insert(0, 'still, ')
    await eventually(() => ada.text.toJSON()).toBe('still, ')
    expect(tokens).toBe(1)
    moveClock(45_000)
    await eventually(() => tokens).toBe(2)
    ada.text.insert(7, 'and ')
    await eventually(() => bob.text.toJSON()).toBe('still, and ')
    moveClock(60_000)
    await eventually(() => bob.provider.isAuthenticated).toBe(false)
    ada.text.insert(11, 'on')
    await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
    expect(tokens).toBe(2)
    expect(received).toEqual(['read-write'])
    const { data } = await tenant.client.crdt.get(editorRef)
    expect(data[0]?.data).toBe('still, and on')
  })

  test('[R6.2] a provider without a new token is closed when the old one expires, and can attach again with a new one', async () => {
    const tenant = await given.tenant(server)
    const { received, ...events } = collectEvents()
    let tokens = 0
    const ada = hocuspocusClient(server, await tokenFor(tenant), {
      ...events,
      onOutgoingMessage: ({ message }) => (tokens += message.description === 'Authentication' ? 1 : 0),
    })
    await synced(ada)
    moveClock((userTokenSeconds - 30) * 1000)
    await eventually(() => tokens).toBe(2)
    ada.provider.forceSync()
    await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
    moveClock(31_000)
    const reason = 'token_expired: The token has expired.'
    await eventually(() => received).toEqual(['read-write', `failed: ${reason}`, `closed: 1000 ${reason}`])
    expect(ada.provider).toMatchObject({ isAuthenticated: false, isSynced: false })
    expect(ada.socket.status).toBe('connected')
    ada.text.insert(0, 'meanwhile')
    const token = await tokenFor(tenant)
    ada.provider.setConfiguration({ ...ada.provider.configuration, token })
    ada.provider.detach()
    ada.provider.attach()
    await synced(ada)
    await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
    const { data } = await tenant.client.crdt.get(editorRef)
    expect(data[0]?.data).toBe('meanwhile')
  })

  test('[R6.5] a provider that was denied can send another token on the same socket', async () => {
    const tenant = await given.tenant(server)
    const { received, ...events } = collectEvents()
    let token = 'x'
    const ada = hocuspocusClient(server, () => token, events)
    await eventually(() => received).toHaveLength(1)
    token = await tokenFor(tenant)
    await ada.provider.sendToken()
    ada.provider.startSync()
    await synced(ada)
    expect(received).toEqual([expect.stringMatching(/^failed: token_invalid/), 'read-write'])
  })

  test('[R6.4] a denied provider can retry immediately and can send requests before its token', async () => {
    const tenant = await given.tenant(server)
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(bob)
    bob.text.insert(0, 'Hello')
    const tokens = [await tokenFor(tenant), 'x']
    const ada = hocuspocusClient(server, () => tokens.pop() ?? '', {
      onAuthenticationFailed() {
        void ada.provider.sendToken()
        ada.provider.startSync()
      },
    })
    ada.provider.setAwarenessField('cursor', 1)
    await synced(ada)
    await eventually(() => ada.text.toJSON()).toBe('Hello')
    await eventually(() => bob.provider.awareness?.getStates().get(ada.doc.clientID)).toEqual({ cursor: 1 })
    ada.text.insert(5, ' world')
    await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
    await eventually(() => bob.text.toJSON()).toBe('Hello world')
  })

  test('[R6.3] a provider that sends its token again stays authenticated, and its changes are stored', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const received: string[] = []
    const ada = hocuspocusClient(server, token, {
      onAuthenticated({ scope }) {
        received.push(scope)
        void ada.provider.sendToken()
      },
    })
    await synced(ada)
    for (const word of ['one', 'two', 'three']) {
      await ada.provider.sendToken()
      ada.text.insert(0, word)
      await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
    }
    expect(received).toEqual(['read-write'])
  })

  test('[R6.3] a provider that sends the token of another user is denied', async () => {
    const tenant = await given.tenant(server)
    const { received, ...events } = collectEvents()
    let user = 'ada'
    const ada = hocuspocusClient(server, () => tokenFor(tenant, user), events)
    await synced(ada)
    user = 'bob'
    await ada.provider.sendToken()
    await eventually(() => received.slice(0, 2)).toEqual([
      'read-write',
      'failed: token_invalid: The token is that of another user.',
    ])
  })

  test('[R9.1] [R6.5] a provider that loses access gets the reason, and other editors on the socket continue', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    const [locked, deleted] = [collectEvents(), collectEvents()]
    const one = hocuspocusClient(server, token, { socket, name: 'org_1/doc_1/note', ...locked })
    const two = hocuspocusClient(server, token, { socket, name: 'org_1/doc_2/note', ...deleted })
    const three = hocuspocusClient(server, token, { socket, name: 'org_1/doc_3/note' })
    await synced(one, two, three)
    await tenant.client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_2'] })
    const reason = 'The user may not open this document.'
    await eventually(() => locked.received).toEqual([
      'read-write',
      `failed: ${reason}`,
      `closed: 1000 ${reason}`,
    ])
    const gone = 'The document was deleted.'
    await eventually(() => deleted.received).toEqual([
      'read-write',
      `failed: ${gone}`,
      `closed: 1000 ${gone}`,
    ])
    one.text.insert(0, 'too late')
    three.text.insert(0, 'Hello')
    await eventually(() => three.provider.hasUnsyncedChanges).toBe(false)
    expect(one.provider).toMatchObject({ isSynced: false, hasUnsyncedChanges: true })
    expect(socket.status).toBe('connected')
  })

  test('[R5] [R5.1] a client can send the token in the address, and a backend can send its credentials in headers', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ada = hocuspocusClient(server, '', { socket: hocuspocusSocket(server, `?token=${token}`) })
    await synced(ada)
    const socket = hocuspocusSocket(server, '', {
      WebSocketPolyfill: class extends WebSocket {
        constructor(url: string | URL) {
          super(url, { headers: tenant.headers })
        }
      },
    })
    const backend = hocuspocusClient(server, '', { socket })
    await synced(backend)
    backend.text.insert(0, 'from the backend')
    await eventually(() => ada.text.toJSON()).toBe('from the backend')
    const { data } = await tenant.client.crdt.get(editorRef)
    expect(data[0]).toMatchObject({ lastUpdatedBy: 'server' })
  })
})
