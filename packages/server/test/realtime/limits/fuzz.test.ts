import { once } from 'node:events'
import { connect } from 'node:net'
import * as encoding from 'lib0/encoding'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { serverClientId } from '../../../src/crdt/content/load.ts'
import * as given from '../../support/given.ts'
import { type TestServer, useServer } from '../../support/harness.ts'
import { hostileUpdate } from '../../support/updates/hostile-updates.ts'
import { synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { socketUrl } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/user-tokens.ts'
import { createRandom, testSeed } from '../../support/random.ts'
import { realUpdates } from '../../support/updates/sessions.ts'

const report = (text: string) => {
  // oxlint-disable-next-line no-console -- the counts are part of the result
  console.log(`seed ${testSeed}: ${text}`)
}

type Frame = (update: Uint8Array) => Uint8Array

const message = (write: (encoder: encoding.Encoder) => void): Uint8Array => encoding.encode(write)

/** Encodes an update in the two dialects of Yjs, or with `kind` another message of the same form. */
const frames: Record<'yjs' | 'hocuspocus', (kind?: number) => Frame> = {
  yjs:
    (kind = 2) =>
    (update) =>
      message((e) => {
        encoding.writeVarUint(e, 0)
        encoding.writeVarUint(e, kind)
        encoding.writeVarUint8Array(e, update)
      }),
  hocuspocus:
    (kind = 2) =>
    (update) =>
      message((e) => {
        encoding.writeVarString(e, editorName)
        encoding.writeVarUint(e, 0)
        encoding.writeVarUint(e, kind)
        encoding.writeVarUint8Array(e, update)
      }),
}

/** A socket that reconnects after the server closes it. */
class Attacker {
  readonly #open: () => Promise<WebSocket>
  #socket: WebSocket | undefined
  closes = 0

  constructor(open: () => Promise<WebSocket>) {
    this.#open = open
  }

  /** Resolves when the server has answered the ping after the data, or has closed the socket. */
  async send(data: Uint8Array | string): Promise<void> {
    if (this.#socket?.readyState !== WebSocket.OPEN) this.#socket = await this.#open()
    const socket = this.#socket
    await new Promise<void>((resolve) => {
      const closed = () => {
        this.closes++
        resolve()
      }
      socket.once('close', closed)
      socket.once('pong', () => {
        socket.off('close', closed)
        resolve()
      })
      socket.send(data)
      socket.ping()
    })
  }

  end(): void {
    this.#socket?.terminate()
  }
}

async function opened(url: string, first?: Uint8Array): Promise<WebSocket> {
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  await once(socket, 'open')
  if (first) socket.send(first)
  return socket
}

const doors = (server: TestServer, token: string) => ({
  yjs: () => opened(socketUrl(server, `/yjs/${editorName}?token=${token}`)),
  'y-sweet': async () => {
    const socket = await opened(socketUrl(server, `/y-sweet/d/${editorName}/ws/${editorName}?token=${token}`))
    // The server sends a refusal at once and closes the connection later.
    return socket.on('message', (data: Buffer) => data[0] === 2 && socket.terminate())
  },
  hocuspocus: () =>
    opened(
      socketUrl(server, '/hocuspocus'),
      message((e) => {
        encoding.writeVarString(e, editorName)
        encoding.writeVarUint(e, 2)
        encoding.writeVarUint(e, 0)
        encoding.writeVarString(e, token)
      }),
    ),
  realtime: () => opened(socketUrl(server, `/realtime?token=${token}`)),
})

const contentOf = (doc: Y.Doc) =>
  JSON.stringify([
    doc.getText('content').toDelta(),
    [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(),
  ])

/** Lets two users type during the attack, and expects that they and a late joiner end with all of their text. */
async function attackWhileUsersType(
  server: TestServer,
  attack: (token: string) => Promise<void>,
): Promise<void> {
  const tenant = await given.tenant(server)
  const ada = yjsClient(server, await tokenFor(tenant, 'ada'))
  const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
  await synced(ada, bob)
  let typing = true
  const words: string[] = []
  const typed = (async () => {
    for (let word = 0; typing; word++) {
      const text = `<${word}>`
      words.push(text)
      ;(word % 2 ? ada : bob).text.insert(0, text)
      await new Promise((later) => setTimeout(later, 5))
    }
  })()
  await attack(await tokenFor(tenant, 'mallory'))
  typing = false
  await typed
  const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
  await synced(late)
  // Garbage-collected content may be encoded differently, so the test compares the content and not the bytes.
  await expect.poll(() => new Set([ada, bob, late].map(({ doc }) => contentOf(doc))).size).toBe(1)
  const text = late.doc.getText('content').toString()
  expect(words.filter((word) => !text.includes(word))).toEqual([])
  expect(ada.provider.wsconnected && bob.provider.isAuthenticated).toBe(true)
  const { data } = await tenant.client.crdt.get({ organizationId: 'org_1', documentId: 'doc_1' })
  expect(data).toHaveLength(1)
}

describe('[R8] hostile clients', () => {
  const server = useServer('sqlite')

  test.each(['yjs', 'y-sweet', 'hocuspocus', 'realtime'] as const)(
    '[R8] random frames at /%s close at most their own connection',
    { timeout: 300_000 },
    async (dialect) => {
      const random = createRandom()
      let sent = 0
      let closes = 0
      await attackWhileUsersType(server, async (token) => {
        const attackers = Array.from({ length: 4 }, () => new Attacker(doors(server, token)[dialect]))
        await Promise.all(
          attackers.map(async (attacker) => {
            for (let i = 0; i < 400; i++, sent++) {
              const bytes = Uint8Array.from({ length: random(40) }, () => random(random(2) ? 256 : 12))
              await attacker.send(random(4) === 0 ? Buffer.from(bytes).toString('latin1') : bytes)
            }
            closes += attacker.closes
            attacker.end()
          }),
        )
      })
      report(`${sent} random frames at /${dialect}, ${closes} connections closed`)
    },
  )

  test(
    '[R8] updates cut at every byte, or with changed bytes, change nothing for other clients',
    { timeout: 300_000 },
    async () => {
      const random = createRandom()
      let cuts = 0
      let changes = 0
      await attackWhileUsersType(server, async (token) => {
        for (const dialect of ['yjs', 'hocuspocus'] as const) {
          const attackers = [2, 2, 1].map((kind) => ({
            frame: frames[dialect](kind),
            attacker: new Attacker(doors(server, token)[dialect]),
          }))
          const updates = realUpdates(testSeed, 12).map(({ bytes }) => bytes)
          await Promise.all(
            attackers.map(async ({ frame, attacker }, index) => {
              for (const update of updates.filter((_, at) => at % attackers.length === index)) {
                for (let end = 0; end < Math.min(update.length, 150); end++, cuts++) {
                  await attacker.send(frame(update.subarray(0, end)))
                }
                for (let i = 0; i < 60; i++, changes++) {
                  const bytes = Uint8Array.from(update)
                  for (let n = 1 + random(8); n > 0; n--) bytes[random(bytes.length)] = random(256)
                  await attacker.send(frame(bytes))
                }
              }
              attacker.end()
            }),
          )
        }
      })
      report(`${cuts} cut updates, ${changes} changed ones`)
    },
  )

  test(
    '[R8] well-formed updates that no real editor would send change nothing for other clients',
    { timeout: 300_000 },
    async () => {
      const random = createRandom()
      let sent = 0
      await attackWhileUsersType(server, async (token) => {
        for (const dialect of ['yjs', 'hocuspocus'] as const) {
          const attacker = new Attacker(doors(server, token)[dialect])
          for (let i = 0; i < 600; i++, sent++) {
            await attacker.send(frames[dialect](random(5) === 0 ? 1 : 2)(hostileUpdate(random, new Map())))
          }
          attacker.end()
        }
      })
      report(`${sent} hostile updates`)
    },
  )

  test('[R8.5] [R8.6] a client cannot write as another user or as the server, and cannot delete content before it is written', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant, 'ada'))
    await synced(ada)
    ada.text.insert(0, 'Hello')
    const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
    const content = async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data
    await expect.poll(content).toBe('Hello')

    const forgeries = new Map<string, Uint8Array>()
    const forged = new Y.Doc()
    Y.applyUpdate(forged, Y.encodeStateAsUpdate(ada.doc))
    forged.clientID = ada.doc.clientID
    const vector = Y.encodeStateVector(forged)
    forged.getText('content').insert(5, ' from Mallory')
    forgeries.set('as another user', Y.encodeStateAsUpdate(forged, vector))
    const asServer = new Y.Doc()
    asServer.clientID = serverClientId
    asServer.getText('content').insert(0, 'from the server')
    forgeries.set('as the server', Y.encodeStateAsUpdate(asServer))
    forgeries.set(
      'a delete of what is yet to come',
      message((e) => {
        encoding.writeVarUint(e, 0)
        for (const number of [1, ada.doc.clientID, 1, 5, 1000]) encoding.writeVarUint(e, number)
      }),
    )
    for (const dialect of ['yjs', 'hocuspocus'] as const) {
      const attacker = new Attacker(doors(server, await tokenFor(tenant, 'mallory'))[dialect])
      for (const kind of [1, 2]) {
        for (const update of forgeries.values()) await attacker.send(frames[dialect](kind)(update))
      }
      attacker.end()
    }
    ada.text.insert(5, ' world')
    await expect.poll(content).toBe('Hello world')
    const late = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(late)
    expect(late.text.toString()).toBe('Hello world')
    expect(ada.text.toString()).toBe('Hello world')
  })

  test('[R8] [R2] [R2.1] forged awareness neither replaces states of other clients nor floods them', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant, 'ada')),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    ada.provider.awareness.setLocalStateField('cursor', 1)
    const seen = () => bob.provider.awareness.getStates().get(ada.doc.clientID)
    await expect.poll(seen).toEqual({ cursor: 1 })

    const states = (entries: [client: number, clock: number, json: string][]) =>
      message((e) => {
        encoding.writeVarUint(e, 1)
        encoding.writeVarUint8Array(
          e,
          message((inner) => {
            encoding.writeVarUint(inner, entries.length)
            for (const [client, clock, json] of entries) {
              encoding.writeVarUint(inner, client)
              encoding.writeVarUint(inner, clock)
              encoding.writeVarString(inner, json)
            }
          }),
        )
      })
    const attacker = new Attacker(doors(server, await tokenFor(tenant, 'mallory')).yjs)
    const attacks: [number, number, string][][] = [
      [[ada.doc.clientID, 1_000_000, '{"cursor":"forged"}']],
      [[ada.doc.clientID, 1_000_000, 'null']],
      Array.from({ length: 900 }, (_, client) => [client + 2, 1, '{"many":true}']),
      Array.from({ length: 5_000 }, (_, client) => [client + 2, 1, '{}']),
      [[77, 1, '['.repeat(20_000)]],
      [[77, 1, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`]],
      [[77, 1, '{"__proto__":{"admin":true}}']],
      [[77, 1, 'not json']],
      [[77, 1, `"${'x'.repeat(100_000)}"`]],
      [[78, 1, '{"user":{"id":"ada","name":"Ada","email":"ada@example.com"},"userId":"ada"}']],
    ]
    for (const entries of attacks) await attacker.send(states(entries))
    await expect
      .poll(() => bob.provider.awareness.getStates().get(78))
      .toEqual({
        user: { id: 'mallory', name: 'Ada', email: 'mallory@example.com' },
        userId: 'mallory',
      })
    expect(seen()).toEqual({ cursor: 1 })
    ada.provider.awareness.setLocalStateField('cursor', 2)
    await expect.poll(seen).toEqual({ cursor: 2 })
    expect(bob.provider.awareness.getStates().size).toBeLessThan(10)
    attacker.end()
  })

  test('[R8] bytes that are not WebSocket frames close at most their own connection', async () => {
    const random = createRandom()
    const { hostname, port } = new URL(server.url)
    let sent = 0
    await attackWhileUsersType(server, async (token) => {
      for (let i = 0; i < 300; i++, sent++) {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        const path = ['/hocuspocus', '/realtime', `/yjs/${editorName}?token=${token}`][i % 3] as string
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
        )
        await once(socket, 'data')
        // Reserved bits, unknown opcodes, no mask, wrong lengths, control frames that are too long.
        socket.write(Uint8Array.from({ length: 2 + random(30) }, () => random(256)))
        if (random(2)) socket.destroy()
        else socket.end()
      }
    })
    report(`${sent} connections with bytes that are not frames`)
  })
})
