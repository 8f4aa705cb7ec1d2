import * as decoding from 'lib0/decoding'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, startServer, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { encodeMessage } from '../../support/clients/encode-message.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

/** The message types of all provider versions. */
const [sync, awareness, auth, queryAwareness, syncReply, stateless, broadcastStateless] = [
  0, 1, 2, 3, 4, 5, 6,
]
const [close, syncStatus, ping, pong] = [7, 8, 9, 10]

type Part = number | string | Uint8Array

/** Opens a socket and collects the messages of the server by type. */
async function openSocket(server: { url: string }, query = '') {
  const raw = await RawSocket.connect(server, `/hocuspocus${query}`)
  /** Pings have one byte and no editor name. */
  const pings = () => raw.received.filter(({ length }) => length === 1)
  const messages = () =>
    raw.received
      .filter(({ length }) => length > 1)
      .map((data) => {
        const rest = decoding.createDecoder(data)
        expect(decoding.readVarString(rest)).toBe(editorName)
        return { type: decoding.readVarUint(rest), rest }
      })
  return {
    raw,
    pings,
    types: () => messages().map(({ type }) => type),
    /** The bytes after the type of the message with that index. */
    restOf: (index: number) => messages()[index]?.rest as decoding.Decoder,
    send: (...parts: readonly Part[]) => raw.send(encodeMessage(...parts)),
  }
}

const hello = (() => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'Hello')
  return { update: Y.encodeStateAsUpdate(doc), stateVector: Y.encodeStateVector(doc) }
})()
const emptyBytes = Uint8Array.of(0)

describe('messages of other Hocuspocus provider versions', () => {
  const server = useServer(anyStore, { isOwn: true })

  test('[R6.6] a provider that does not send its version is accepted', async () => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server)
    client.send(editorName, auth, 0, await tokenFor(tenant))
    client.send(editorName, sync, 0, emptyBytes)
    await eventually(client.types).toEqual([auth, sync, sync])
    client.send(editorName, sync, 1, hello.update)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus])
    expect(decoding.readVarInt(client.restOf(4))).toBe(1)
  })

  test('[R6] [R5] a provider that sends no token is identified by the token in the address', async () => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, sync, 0, emptyBytes)
    client.send(editorName, sync, 2, hello.update)
    await eventually(() => client.types().toSorted()).toEqual([sync, sync, sync, auth, syncStatus])
  })

  test('[R6.5] a provider with its token in the address is denied a document once, and again only when it authenticates again', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    await tenant.client.documents.add({
      organizationId: 'org_1',
      documents: [{ documentId: 'doc_1' }],
      createOrganization: true,
    })
    await tenant.client.documents.updateDisableState({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      disabled: true,
    })
    const client = await openSocket(server, `?token=${token}`)
    client.send(editorName, sync, 0, emptyBytes)
    await eventually(client.types).toEqual([auth])
    expect(decoding.readVarUint(client.restOf(0))).toBe(1)
    client.send(editorName, sync, 2, hello.update)
    client.send(editorName, auth, 0, '')
    await eventually(client.types).toEqual([auth, auth])
  })

  test('[R6] the server does not answer a SyncReply message with another sync request', async () => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server)
    client.send(editorName, auth, 0, await tokenFor(tenant))
    client.send(editorName, syncReply, 0, emptyBytes)
    client.send(editorName, syncReply, 1, hello.update)
    client.send(editorName, queryAwareness)
    await eventually(client.types).toContain(awareness)
    await eventually(() => client.types().toSorted()).toEqual([sync, sync, awareness, auth, syncStatus])
  })

  test('[R6.3] a provider that starts again under the same name is accepted again, and a repeated token alone gets no answer', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const client = await openSocket(server)
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 0, emptyBytes)
    await eventually(client.types).toEqual([auth, sync, sync])
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 2, hello.update)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus])
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 0, emptyBytes)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus, auth, sync, sync])
  })

  test('[R6.4] a sync request sent before the token is answered after it, unless the provider closed the editor in between', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const early = await openSocket(server)
    early.send(editorName, sync, 0, emptyBytes)
    early.send(editorName, auth, 0, token)
    await eventually(() => early.types().toSorted()).toEqual([sync, sync, auth, queryAwareness])
    const gone = await openSocket(server)
    gone.send(editorName, sync, 0, emptyBytes)
    gone.send(editorName, close)
    gone.send(editorName, auth, 0, token)
    gone.send(editorName, sync, 2, hello.update)
    await eventually(gone.types).toEqual([auth, sync, syncStatus])
  })

  test('[R6.7] a close, an update and awareness sent before the token are ignored, and so are types that the server does not handle', async () => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server)
    client.send(editorName, close)
    client.send(editorName, sync, 2, hello.update)
    client.send('org_1/doc_1/other', awareness, emptyBytes)
    client.send(editorName, auth, 0, await tokenFor(tenant), '4.8.0')
    for (const type of [syncStatus, ping, pong, 11, 300]) {
      client.send(editorName, type, 'whatever')
    }
    client.raw.send(Uint8Array.of(pong))
    client.send(editorName, sync, 2, hello.update)
    await eventually(client.types).toEqual([auth, sync, syncStatus])
    expect(client.raw.socket.readyState).toBe(WebSocket.OPEN)
  })

  const bad: Record<string, readonly Part[]> = {
    'no content': [],
    'no type': [editorName],
    'a denial': [editorName, auth, 1, 'No.'],
    'no token': [editorName, auth, 0],
    'an unknown kind of sync': [editorName, sync, 3, emptyBytes],
    'no update': [editorName, sync, 2],
    'stateless content that is not text': [editorName, stateless, Uint8Array.of(0xff)],
    'broadcast content that is not text': [editorName, broadcastStateless, Uint8Array.of(0xff)],
  }
  test.each(Object.entries(bad))('[R8.2] a message with %s closes the connection', async (_, parts) => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, auth, 0, '')
    client.send(...parts)
    expect(await client.raw.closed).toMatchObject({ code: 4400 })
  })

  test('[R48.2] an editor name that is too long closes the connection with a reason', async () => {
    const client = await openSocket(server)
    client.send('x'.repeat(10_000), auth, 0, '')
    const reason = expect.stringMatching(/^The name of an editor has at most \d+ characters\.$/)
    expect(await client.raw.closed).toEqual({ code: 4400, reason })
  })

  test.each([
    ['a state vector', [sync, 0, Uint8Array.of(5)]],
    ['awareness', [awareness, Uint8Array.of(9, 9)]],
    ['an update', [sync, 2, Uint8Array.of(1, 2, 3)]],
  ])('[R8.1] %s that is malformed closes the editor, and the socket stays open', async (_, parts) => {
    const tenant = await given.tenant(server)
    const client = await openSocket(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, auth, 0, '')
    client.send(editorName, ...parts)
    await eventually(client.types).toEqual([auth, auth, close])
    client.send(editorName, auth, 0, '')
    await eventually(client.types).toEqual([auth, auth, close, auth])
  })

  test('[R6.8] a connection has at most 1,000 editors', async () => {
    const tenant = await given.tenant(server)
    const raw = await RawSocket.connect(server, `/hocuspocus?token=${await tokenFor(tenant)}`)
    const denials = () =>
      raw.received.flatMap((data) => {
        const decoder = decoding.createDecoder(data)
        const name = decoding.readVarString(decoder)
        const isDenial = decoding.readVarUint(decoder) === auth && decoding.readVarUint(decoder) === 1
        return isDenial ? `${name}: ${decoding.readVarString(decoder)}` : []
      })
    for (let editor = 0; editor <= 1_000; editor++)
      raw.send(encodeMessage(`org_1/doc_1/${editor}`, auth, 0, ''))
    const reason = 'org_1/doc_1/1000: A connection has at most 1000 editors.'
    await expect.poll(denials, { timeout: 60_000 }).toEqual([reason])
    expect(raw.socket.readyState).toBe(WebSocket.OPEN)
  }, 90_000)
})

describe('idle connections', () => {
  afterAll(() => {
    vi.useRealTimers()
  })

  test('[R6.6] after 20 s the server sends an idle provider a message that its version understands', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const server = await startServer(anyStore)
    onTestFinished(() => server.stop())
    const token = await tokenFor(await given.tenant(server))
    const [old, recent] = [await openSocket(server), await openSocket(server)]
    old.send(editorName, auth, 0, token)
    recent.send(editorName, auth, 0, token, '4.8.0')
    await eventually(() => [...old.types(), ...recent.types()]).toEqual([auth, auth])
    vi.advanceTimersByTime(20_500)
    // In old providers a ping causes an uncaught error.
    await eventually(old.types).toEqual([auth, awareness])
    expect(decoding.readVarUint8Array(old.restOf(1))).toEqual(emptyBytes)
    await eventually(recent.pings).toEqual([Buffer.of(ping)])
    expect(old.pings()).toEqual([])
    recent.raw.send(Uint8Array.of(pong))
    recent.send(editorName, queryAwareness)
    await eventually(recent.types).toEqual([auth, awareness])
  })
})
