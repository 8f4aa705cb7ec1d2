import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { encodeEntries } from '../../support/clients/awareness-messages.ts'
import { synced } from '../../support/clients/convergence.ts'
import { encodeMessage } from '../../support/clients/encode-message.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import type { RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient } from '../../support/clients/raw-clients.ts'
import type { SocketClose } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import * as given from '../../support/given.ts'
import { anyStore, type TestServer, useServer } from '../../support/harness.ts'
import { metric } from '../../support/measures/metrics-page.ts'
import { rounds } from '../../support/random/effort.ts'
import { createRandom, testSeed } from '../../support/random/random.ts'
import { hostileUpdate } from '../../support/updates/hostile-updates.ts'
import { realUpdates } from '../../support/updates/sessions.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
type Entry = [yjsClientId: number, clock: number, json: string]

const report = (text: string) => {
  // oxlint-disable-next-line no-console -- the counts are part of the result
  console.log(`seed ${testSeed}: ${text}`)
}

/** How the server answered a message: with the close of the connection, with a refusal, or not at all. */
interface Answer {
  close?: SocketClose
  refusal?: string
}

/**
 * A client that sends any bytes, and connects again after the server closed its connection. At `/yjs` and `/y-sweet` it
 * then uses the token of another user, because there the server delays the close of a client that it refuses again
 * (R46.1) and ignores its messages until then.
 */
class Attacker {
  readonly #server: TestServer
  readonly #tenant: given.Tenant
  readonly #dialect: Dialect
  #client: RawClient | undefined
  #lastToken: string | undefined
  #updates = 0
  connections = 0

  constructor(server: TestServer, tenant: given.Tenant, dialect: Dialect) {
    this.#server = server
    this.#tenant = tenant
    this.#dialect = dialect
  }

  /** Returns the token of another user each time at `/yjs` and `/y-sweet`, and always the same token elsewhere. */
  async #token(): Promise<string> {
    const isDelayed = this.#dialect === 'yjs' || this.#dialect === 'y-sweet'
    if (isDelayed || this.#lastToken === undefined)
      this.#lastToken = await tokenFor(this.#tenant, `mallory-${attackers++}`)
    return this.#lastToken
  }

  /** Opens the editor. Throws if the server does not let the attacker in. */
  async #connect(): Promise<RawClient> {
    const token = await this.#token()
    const client = rawClient(this.#server, this.#dialect, { ...editorRef, token })
    expect(await client.opened()).not.toHaveProperty('reason')
    this.connections++
    return client
  }

  /** Sends the bytes to the open editor. Resolves when the server has answered the ping after them, or refused them. */
  async send(data: Uint8Array | string): Promise<Answer> {
    this.#client ??= await this.#connect()
    const client = this.#client
    client.socket.send(data)
    await client.flushed()
    const isOpen = client.socket.readyState === WebSocket.OPEN
    const [refusal] = client.refusalTexts
    if (isOpen && refusal === undefined) return {}
    this.#client = undefined
    // At `/y-sweet` a refusal comes before the close, and at `/hocuspocus` instead of it.
    if (isOpen) client.terminate()
    return isOpen ? { refusal } : { close: await client.closed, refusal }
  }

  /** Sends an update as the dialect encodes it. */
  async sendUpdate(update: Uint8Array, kind: 'update' | 'syncStep2' = 'update'): Promise<Answer> {
    this.#client ??= await this.#connect()
    return this.send(this.#client.encode(kind, update, ++this.#updates))
  }

  terminate(): void {
    this.#client?.terminate()
  }
}
let attackers = 0

/** Runs the work, and expects that the server has refused at least these numbers of updates during it, by reason. */
async function expectRefused(
  server: TestServer,
  expected: Record<string, number>,
  work: () => Promise<void>,
): Promise<void> {
  const count = async (reason: string) => {
    const counts = server.all.map((one) => metric(one, 'plenum_editor_updates_refused_total', { reason }))
    return (await Promise.all(counts)).reduce<number>((sum, found) => sum + (found ?? 0), 0)
  }
  const counts = () => Promise.all(Object.keys(expected).map(count))
  const before = await counts()
  await work()
  // Updates that may depend on later ones are refused after 2 s.
  const missing = async () => {
    const more = (await counts()).map((count, index) => count - (before[index] ?? 0))
    return Object.entries(expected).filter(([, atLeast], index) => (more[index] ?? 0) < atLeast)
  }
  await expect.poll(missing, { interval: 250 }).toEqual([])
}

const contentOf = (doc: Y.Doc) =>
  JSON.stringify([
    doc.getText('content').toDelta(),
    [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(),
  ])

/** Lets two users type during the attack, and expects that they and a late joiner end with all of their text. */
async function attackWhileUsersType(
  server: TestServer,
  attack: (tenant: given.Tenant) => Promise<void>,
): Promise<void> {
  const tenant = await given.tenant(server)
  const ada = yjsClient(server, await tokenFor(tenant, 'ada'))
  const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
  await synced(ada, bob)
  let isTyping = true
  const words: string[] = []
  const typed = (async () => {
    for (let word = 0; isTyping; word++) {
      const text = `<${word}>`
      words.push(text)
      ;(word % 2 ? ada : bob).text.insert(0, text)
      await new Promise((later) => setTimeout(later, 20))
    }
  })()
  await attack(tenant).finally(() => (isTyping = false))
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
  const server = useServer(anyStore, { isOwn: true })

  test.each(dialects)(
    '[R8] [R8.2] random frames at /%s close at most their own connection',
    { timeout: 300_000 },
    async (dialect) => {
      const random = createRandom()
      const codes = new Set<number>()
      let sent = 0
      let connections = 0
      await attackWhileUsersType(server, async (tenant) => {
        const attackers = Array.from({ length: 4 }, () => new Attacker(server, tenant, dialect))
        await Promise.all(
          attackers.map(async (attacker) => {
            for (let i = 0; i < rounds(40); i++, sent++) {
              const bytes = Uint8Array.from({ length: random(40) }, () => random(random(2) ? 256 : 12))
              const frame = random(4) === 0 ? Buffer.from(bytes).toString('latin1') : bytes
              const { close } = await attacker.send(frame)
              if (close) codes.add(close.code)
            }
            connections += attacker.connections
            attacker.terminate()
          }),
        )
      })
      report(
        `${sent} random frames at /${dialect} on ${connections} connections, closed with ${[...codes].join()}`,
      )
      expect([...codes]).toContain(4400)
      expect(connections).toBeGreaterThan(sent / 16)
    },
  )

  test(
    '[R8] [R8.1] updates cut at each of their first 150 bytes, or with changed bytes, are refused or change nothing for other clients',
    { timeout: 300_000 },
    async () => {
      const random = createRandom()
      let cut = 0
      let changed = 0
      const updates = realUpdates(testSeed, rounds(3)).map(({ bytes }) => bytes)
      await attackWhileUsersType(server, async (tenant) => {
        for (const dialect of ['yjs', 'hocuspocus'] as const) {
          const kinds = ['update', 'update', 'syncStep2'] as const
          await expectRefused(server, { malformed: 20 }, async () => {
            await Promise.all(
              kinds.map(async (kind, index) => {
                const attacker = new Attacker(server, tenant, dialect)
                for (const update of updates.filter((_, at) => at % kinds.length === index)) {
                  for (let end = 0; end < Math.min(update.length, 150); end++, cut++) {
                    await attacker.sendUpdate(update.subarray(0, end), kind)
                  }
                  for (let i = 0; i < 15; i++, changed++) {
                    const bytes = Uint8Array.from(update)
                    for (let n = 1 + random(8); n > 0; n--) bytes[random(bytes.length)] = random(256)
                    await attacker.sendUpdate(bytes, kind)
                  }
                }
                attacker.terminate()
              }),
            )
          })
        }
      })
      report(`${cut} cut and ${changed} changed updates`)
    },
  )

  test(
    '[R8] well-formed updates that no real editor would send change nothing for other clients',
    { timeout: 300_000 },
    async () => {
      const random = createRandom()
      await attackWhileUsersType(server, async (tenant) => {
        for (const dialect of ['yjs', 'hocuspocus'] as const) {
          await expectRefused(server, { malformed: 1, foreign_client: 1 }, async () => {
            const attacker = new Attacker(server, tenant, dialect)
            for (let i = 0; i < rounds(75); i++) {
              const kind = random(5) === 0 ? 'syncStep2' : 'update'
              await attacker.sendUpdate(hostileUpdate(random, new Map()), kind)
            }
            attacker.terminate()
          })
        }
      })
    },
  )

  test('[R8.5] [R8.6] a client cannot write as another user or as the server, and cannot delete content before it is written', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant, 'ada'))
    await synced(ada)
    ada.text.insert(0, 'Hello')
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
    asServer.clientID = 4_294_967_295
    asServer.getText('content').insert(0, 'from the server')
    forgeries.set('as the server', Y.encodeStateAsUpdate(asServer))
    forgeries.set(
      'a delete of content before it is written',
      encodeMessage(0, 1, ada.doc.clientID, 1, 5, 1000),
    )
    for (const dialect of ['yjs', 'hocuspocus'] as const) {
      await expectRefused(server, { foreign_client: 4 }, async () => {
        const attacker = new Attacker(server, tenant, dialect)
        for (const kind of ['syncStep2', 'update'] as const) {
          for (const update of forgeries.values()) await attacker.sendUpdate(update, kind)
        }
      })
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

    const attacker = new Attacker(server, tenant, 'yjs')
    const id = ada.doc.clientID
    const many = (count: number, json: string) =>
      Array.from({ length: count }, (_, client): Entry => [client + 2, 1, json])
    const attacks: Record<string, Entry[]> = {
      'a state of another client': [[id, 1_000_000, '{"cursor":"forged"}']],
      'the removal of a state of another client': [[id, 1_000_000, 'null']],
      '900 states': many(900, '{"many":true}'),
      '5,000 states': many(5_000, '{}'),
      'brackets without an end': [[77, 1, '['.repeat(20_000)]],
      'deep objects': [[77, 1, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`]],
      'a prototype': [[77, 1, '{"__proto__":{"admin":true}}']],
      'no JSON': [[77, 1, 'not json']],
      'a long string': [[77, 1, `"${'x'.repeat(100_000)}"`]],
      'the identity of another user': [
        [78, 1, '{"user":{"id":"ada","name":"Ada","email":"ada@example.com"},"userId":"ada"}'],
      ],
    }
    const answers: Record<string, string> = {}
    for (const [name, entries] of Object.entries(attacks)) {
      const states = entries.map(([yjsClientId, clock, json]) => ({ yjsClientId, clock, json }))
      const { close } = await attacker.send(encodeMessage(1, encodeEntries(...states)))
      answers[name] = close ? `${close.code} ${close.reason}` : 'open'
    }
    const malformed = '4400 Malformed awareness update.'
    const tooLarge = '4400 An awareness state has at most 16 KiB.'
    expect(answers).toEqual({
      'a state of another client': 'open',
      'the removal of a state of another client': 'open',
      '900 states': 'open',
      '5,000 states': malformed,
      'brackets without an end': tooLarge,
      'deep objects': tooLarge,
      'a prototype': malformed,
      'no JSON': malformed,
      'a long string': tooLarge,
      'the identity of another user': 'open',
    })
    await expect
      .poll(() => bob.provider.awareness.getStates().get(78))
      .toEqual({
        user: {
          id: expect.stringMatching(/^mallory-/),
          name: 'Ada',
          email: expect.stringMatching(/^mallory-/),
        },
        userId: expect.stringMatching(/^mallory-/),
      })
    expect(seen()).toEqual({ cursor: 1 })
    ada.provider.awareness.setLocalStateField('cursor', 2)
    await expect.poll(seen).toEqual({ cursor: 2 })
    expect(bob.provider.awareness.getStates().size).toBeLessThan(10)
    attacker.terminate()
  })

  test('[R8] bytes that are not WebSocket frames close at most their own connection', async () => {
    const random = createRandom()
    const { hostname, port } = new URL(server.url)
    const closes = async () => (await metric(server, 'plenum_websocket_closes_total')) ?? 0
    const count = rounds(45)
    await attackWhileUsersType(server, async (tenant) => {
      const token = await tokenFor(tenant, 'mallory')
      const before = await closes()
      for (let i = 0; i < count; i++) {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        const path = ['/hocuspocus', '/realtime', `/yjs/${editorName}?token=${token}`][i % 3] as string
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
        )
        const [answer] = (await once(socket, 'data')) as [Buffer]
        expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /)
        // Random bytes are frames with reserved bits, unknown opcodes, no mask or wrong lengths, or long control frames.
        socket.write(Uint8Array.from({ length: 2 + random(30) }, () => random(256)))
        if (random(2)) socket.destroy()
        else socket.end()
      }
      // Connections of earlier tests may close meanwhile, too.
      await expect.poll(async () => (await closes()) - before).toBeGreaterThanOrEqual(count)
    })
  })
})
