import { describe, expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe('authentication at /realtime', () => {
  const server = useServer(anyStore, { isOwn: true })
  const connect = async (tenant: given.Tenant) => RealtimeSocket.connect(server, await tokenFor(tenant))

  test('[R5] [R5.1] [R10] a client authenticates with a token in the first message or in the address, and a backend with its headers', async () => {
    const tenant = await given.tenant(server)
    const first = new RealtimeSocket(server)
    await first.connected()
    first.send({ type: 'auth', token: await tokenFor(tenant) })
    expect(await first.take('ready')).toEqual({
      type: 'ready',
      connectionId: expect.any(String),
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    const inAddress = new RealtimeSocket(server, { query: `?token=${await tokenFor(tenant, 'bob')}` })
    expect(await inAddress.take('ready')).toMatchObject({ userId: 'bob' })
    const backend = new RealtimeSocket(server, { headers: tenant.headers })
    expect(await backend.take('ready')).toMatchObject({
      userId: 'server',
      expiresAt: Number.MAX_SAFE_INTEGER,
    })
    expect(await backend.open()).toMatchObject({ accessRole: 'editor', presence: [] })
  })

  test('[R10] [R16.1] a client can send messages right after the token without waiting', async () => {
    const client = new RealtimeSocket(server)
    const token = await tokenFor(await given.tenant(server))
    await client.connected()
    client.send({ type: 'auth', token })
    client.send({ type: 'open', ref: 7, ...documentRef, topics: [] })
    client.send({ type: 'setLiveState', ref: 7, id: 1, liveStateDataId: 'a', data: {} })
    client.send({ type: 'openEditor', ref: 7, channel: 3, editorId: 'note' })
    await client.take('ready')
    const opened = await client.take('opened')
    expect(opened).toEqual({
      type: 'opened',
      ref: 7,
      accessRole: 'editor',
      position: { epoch: expect.any(String), seq: 0 },
      reset: true,
    })
    expect(await client.take('done')).toEqual({
      type: 'done',
      id: 1,
      position: { ...opened.position, seq: 1 },
    })
    expect(await client.take('editorOpened')).toEqual({
      type: 'editorOpened',
      channel: 3,
      accessRole: 'editor',
    })
  })

  test('[R5.2] [R16.2] a client whose first message is not a valid token is closed with the reason', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const refusals: [string, number, RegExp][] = [
      [JSON.stringify({ type: 'auth', token: `${token}x` }), closeCodes.unauthenticated, /^token_invalid/],
      [JSON.stringify({ type: 'auth', token: 'x' }), closeCodes.unauthenticated, /^token_invalid/],
      [JSON.stringify({ type: 'ping' }), closeCodes.badMessage, /auth/],
      [JSON.stringify({ type: 'open', ref: 1, ...documentRef, topics: [] }), closeCodes.badMessage, /auth/],
      [JSON.stringify({ type: 'auth', token: 'x'.repeat(20_000) }), closeCodes.badMessage, /bytes/],
    ]
    for (const [message, code, reason] of refusals) {
      const client = new RealtimeSocket(server)
      await client.connected()
      client.socket.send(message)
      expect(await client.closed).toEqual({ code, reason: expect.stringMatching(reason) })
      expect(client.messages).toEqual([])
    }
    const binary = new RealtimeSocket(server)
    await binary.connected()
    binary.socket.send(Uint8Array.of(1, 0, 0))
    expect(await binary.closed).toMatchObject({ code: closeCodes.badMessage })
  })

  test('[R10.4] a new token renews all documents, and a token of another user or an invalid one is refused and changes nothing', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { ref: 1 })
    await client.open('doc_2', { ref: 2 })
    try {
      server.clock.offsetMs = (48 * 60 * 60 - 30) * 1000
      const { expiresAt } = await client.take('tokenExpiring')
      expect(expiresAt * 1000).toBeGreaterThan(Date.now() + server.clock.offsetMs)
      client.send({ type: 'auth', token: await tokenFor(tenant, 'bob') })
      expect(await client.take('error')).toMatchObject({ status: 'UNAUTHENTICATED' })
      client.send({ type: 'auth', token: 'nonsense' })
      expect(await client.take('error')).toMatchObject({ status: 'UNAUTHENTICATED' })
      client.send({ type: 'auth', token: await tokenFor(tenant) })
      const renewed = await client.take('ready')
      expect(renewed.expiresAt).toBeGreaterThan(expiresAt)
      server.clock.offsetMs += 60_000
      for (const ref of [1, 2]) expect(await client.set('a', {}, { ref })).toMatchObject({ type: 'done' })
      // The server sends `tokenExpiring` once for both documents.
      expect(client.messages.filter(({ type }) => type === 'tokenExpiring')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[R10.3] an expired token closes the documents, and the socket stays open for a new token', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    await client.openEditor()
    try {
      server.clock.offsetMs = 49 * 60 * 60 * 1000
      expect(await client.take('closed')).toEqual({
        type: 'closed',
        ref: 1,
        code: closeCodes.unauthenticated,
        reason: expect.stringMatching(/^token_expired/),
      })
      client.send({ type: 'auth', token: await tokenFor(tenant) })
      await client.take('ready')
      expect(await client.open()).toMatchObject({ reset: true })
    } finally {
      server.clock.offsetMs = 0
    }
  })
})
