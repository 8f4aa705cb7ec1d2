import { once } from 'node:events'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { startServer, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { closed, socketUrl } from '../../support/clients/raw-socket.ts'
import { tokenFor } from '../../support/user-tokens.ts'

/** The message types of all provider versions. */
const [sync, awareness, auth, queryAwareness, syncReply, stateless, broadcastStateless] = [
  0, 1, 2, 3, 4, 5, 6,
]
const [close, syncStatus, ping, pong] = [7, 8, 9, 10]

type Part = number | string | Uint8Array

function message(...parts: readonly Part[]): Uint8Array {
  const encoder = encoding.createEncoder()
  for (const part of parts) {
    if (typeof part === 'number') encoding.writeVarUint(encoder, part)
    else if (typeof part === 'string') encoding.writeVarString(encoder, part)
    else encoding.writeVarUint8Array(encoder, part)
  }
  return encoding.toUint8Array(encoder)
}

/** Opens a socket and collects the messages of the server by type. */
async function rawClient(server: { url: string }, query = '') {
  const socket = new WebSocket(socketUrl(server, `/hocuspocus${query}`))
  onTestFinished(() => socket.terminate())
  const received: { type: number; rest: decoding.Decoder }[] = []
  const pings: Buffer[] = []
  socket.on('message', (data: Buffer) => {
    if (data.length === 1) return void pings.push(data)
    const rest = decoding.createDecoder(data)
    expect(decoding.readVarString(rest)).toBe(editorName)
    received.push({ type: decoding.readVarUint(rest), rest })
  })
  await once(socket, 'open')
  const types = () => received.map(({ type }) => type)
  return {
    socket,
    received,
    types,
    pings,
    send: (...parts: readonly Part[]) => socket.send(message(...parts)),
  }
}

const hello = (() => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'Hello')
  return { update: Y.encodeStateAsUpdate(doc), stateVector: Y.encodeStateVector(doc) }
})()
const nothing = Uint8Array.of(0)

describe('messages of other Hocuspocus provider versions', () => {
  const server = useServer('sqlite')

  test('[R6.6] a provider that does not send its version is accepted', async () => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server)
    client.send(editorName, auth, 0, await tokenFor(tenant))
    client.send(editorName, sync, 0, nothing)
    await eventually(client.types).toEqual([auth, sync, sync])
    client.send(editorName, sync, 1, hello.update)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus])
    expect(decoding.readVarInt(client.received[4]?.rest as decoding.Decoder)).toBe(1)
  })

  test('[R6] [R5] a provider without a token skips authentication and is identified by the address', async () => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, sync, 0, nothing)
    client.send(editorName, sync, 2, hello.update)
    await eventually(() => client.types().toSorted()).toEqual([sync, sync, sync, auth, syncStatus])
  })

  test('[R6.5] a provider that the address authenticates is denied a document once', async () => {
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
    const client = await rawClient(server, `?token=${token}`)
    client.send(editorName, sync, 0, nothing)
    await eventually(client.types).toEqual([auth])
    expect(decoding.readVarUint(client.received[0]?.rest as decoding.Decoder)).toBe(1)
    client.send(editorName, sync, 2, hello.update)
    client.send(editorName, auth, 0, '')
    await eventually(client.types).toEqual([auth, auth])
  })

  test('[R6] the server does not answer a sync reply with another sync request', async () => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server)
    client.send(editorName, auth, 0, await tokenFor(tenant))
    client.send(editorName, syncReply, 0, nothing)
    client.send(editorName, syncReply, 1, hello.update)
    client.send(editorName, queryAwareness)
    await eventually(client.types).toContain(awareness)
    await eventually(() => client.types().toSorted()).toEqual([sync, sync, awareness, auth, syncStatus])
  })

  test('[R6.3] a provider that starts again under the same name is accepted again, and a repeated token alone gets no answer', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const client = await rawClient(server)
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 0, nothing)
    await eventually(client.types).toEqual([auth, sync, sync])
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 2, hello.update)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus])
    client.send(editorName, auth, 0, token)
    client.send(editorName, sync, 0, nothing)
    await eventually(client.types).toEqual([auth, sync, sync, sync, syncStatus, auth, sync, sync])
  })

  test('[R6.4] requests sent before the token are answered, unless the provider closed the editor', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const early = await rawClient(server)
    early.send(editorName, sync, 0, nothing)
    early.send(editorName, auth, 0, token)
    await eventually(() => early.types().toSorted()).toEqual([sync, sync, auth, queryAwareness])
    const gone = await rawClient(server)
    gone.send(editorName, sync, 0, nothing)
    gone.send(editorName, close)
    gone.send(editorName, auth, 0, token)
    gone.send(editorName, sync, 2, hello.update)
    await eventually(gone.types).toEqual([auth, sync, syncStatus])
  })

  test('[R6.7] messages meant for other servers are ignored', async () => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server)
    client.send(editorName, close)
    client.send(editorName, sync, 2, hello.update)
    client.send('org_1/doc_1/other', awareness, nothing)
    client.send(editorName, auth, 0, await tokenFor(tenant), '4.8.0')
    for (const type of [syncStatus, ping, pong, 11, 300]) {
      client.send(editorName, type, 'whatever')
    }
    client.socket.send(Uint8Array.of(pong))
    client.send(editorName, sync, 2, hello.update)
    await eventually(client.types).toEqual([auth, sync, syncStatus])
    expect(client.socket.readyState).toBe(WebSocket.OPEN)
  })

  const bad: Record<string, readonly Part[]> = {
    'no content': [],
    'no type': [editorName],
    'a denial': [editorName, auth, 1, 'No.'],
    'no token': [editorName, auth, 0],
    'an unknown kind of sync': [editorName, sync, 3, nothing],
    'no update': [editorName, sync, 2],
    'stateless content that is not text': [editorName, stateless, Uint8Array.of(0xff)],
    'broadcast content that is not text': [editorName, broadcastStateless, Uint8Array.of(0xff)],
  }
  test.each(Object.entries(bad))('[R8.2] a message with %s closes the connection', async (_, parts) => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, auth, 0, '')
    client.send(...parts)
    expect(await closed(client.socket)).toMatchObject({ code: 4400 })
  })

  test('[R48.2] an editor name that is too long closes the connection with a reason', async () => {
    const client = await rawClient(server)
    client.send('x'.repeat(10_000), auth, 0, '')
    const reason = expect.stringMatching(/^The name of an editor has at most \d+ characters\.$/)
    expect(await closed(client.socket)).toEqual({ code: 4400, reason })
  })

  test.each([
    ['a state vector', [sync, 0, Uint8Array.of(5)]],
    ['awareness', [awareness, Uint8Array.of(9, 9)]],
    ['an update', [sync, 2, Uint8Array.of(1, 2, 3)]],
  ])('[R8.1] %s that is malformed closes the editor, and the socket stays open', async (_, parts) => {
    const tenant = await given.tenant(server)
    const client = await rawClient(server, `?token=${await tokenFor(tenant)}`)
    client.send(editorName, auth, 0, '')
    client.send(editorName, ...parts)
    await eventually(client.types).toEqual([auth, auth, close])
    client.send(editorName, auth, 0, '')
    await eventually(client.types).toEqual([auth, auth, close, auth])
  })

  test('[R6.8] a connection has at most 1,000 editors', async () => {
    const tenant = await given.tenant(server)
    const socket = new WebSocket(socketUrl(server, `/hocuspocus?token=${await tokenFor(tenant)}`))
    await once(socket, 'open')
    const denials: string[] = []
    socket.on('message', (data: Buffer) => {
      const decoder = decoding.createDecoder(data)
      const name = decoding.readVarString(decoder)
      if (decoding.readVarUint(decoder) !== auth || decoding.readVarUint(decoder) !== 1) return
      denials.push(`${name}: ${decoding.readVarString(decoder)}`)
    })
    for (let editor = 0; editor <= 1_000; editor++) socket.send(message(`org_1/doc_1/${editor}`, auth, 0, ''))
    const reason = 'org_1/doc_1/1000: A connection has at most 1000 editors.'
    await expect.poll(() => denials, { timeout: 60_000 }).toEqual([reason])
    expect(socket.readyState).toBe(WebSocket.OPEN)
  }, 90_000)
})

describe('idle connections', () => {
  afterAll(() => {
    vi.useRealTimers()
  })

  test('[R6.6] the server sends idle providers a message every 20 s that their version understands', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const server = await startServer('sqlite')
    onTestFinished(() => server.stop())
    const token = await tokenFor(await given.tenant(server))
    const [old, recent] = [await rawClient(server), await rawClient(server)]
    old.send(editorName, auth, 0, token)
    recent.send(editorName, auth, 0, token, '4.8.0')
    await eventually(() => [...old.types(), ...recent.types()]).toEqual([auth, auth])
    vi.advanceTimersByTime(20_500)
    // In old providers a ping causes an uncaught error.
    await eventually(old.types).toEqual([auth, awareness])
    expect(decoding.readVarUint8Array(old.received[1]?.rest as decoding.Decoder)).toEqual(nothing)
    await eventually(() => recent.pings).toEqual([Buffer.of(ping)])
    expect(old.pings).toEqual([])
    recent.socket.send(Uint8Array.of(pong))
    recent.send(editorName, queryAwareness)
    await eventually(recent.types).toEqual([auth, awareness])
  })
})
