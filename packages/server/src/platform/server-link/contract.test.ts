import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { certificate, certificateKey } from '../../../test/support/receivers/certificate.ts'
import { createPostgresDatabase } from '../../../test/support/harness.ts'
import { Proxy } from '../../../test/support/faults/proxy.ts'
import { redisForTests } from '../../../test/support/services/redis.ts'
import { createSecrets } from '../../access/credentials/secrets.ts'
import { newSigningKey } from '../../access/tokens/user-tokens.ts'
import { databaseId } from '../../store/database-id.ts'
import { openPostgres } from '../../store/engine/postgres.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { createMemoryLinks } from './memory-link.ts'
import { createPostgresLink } from './postgres-link.ts'
import { createRedisLink } from './redis-link.ts'
import type { ServerLink } from './server-link.ts'

/** Short, so that the tests wait little. A slow machine answers a probe within the timeout. */
const timing = { probeEveryMs: 100, probeTimeoutMs: 3_000, minRetryMs: 20, maxRetryMs: 100 }

interface Service {
  name: string
  url: string
  /** Makes the service ready, once for all tests. */
  prepare(): Promise<void>
  createLink(url: string): ServerLink
}

interface ConnectedService extends Service {
  /** Ends all connections of links to the service. */
  killConnections(): Promise<void>
}

const createMemoryLink = createMemoryLinks()
const memory: Service = {
  name: 'memory',
  url: '',
  prepare: async () => {},
  createLink: createMemoryLink,
}

const postgres: ConnectedService = {
  name: 'PostgreSQL',
  url: '',
  async prepare() {
    this.url = await createPostgresDatabase()
  },
  createLink: (url) => createPostgresLink({ url, timing }),
  async killConnections() {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'plenum-link' and datname = current_database()`)
    await client.end()
  },
}

const redis: ConnectedService = {
  name: 'Redis',
  url: '',
  async prepare() {
    this.url = (await redisForTests()).url
  },
  createLink: (url) => createRedisLink({ url, timing, findDatabaseId: async () => redisChannel }),
  killConnections: async () => (await redisForTests()).killLinks(),
}
const redisChannel = randomUUID()

type Started = ReturnType<typeof startLink>

/** Starts a link and records what it reports. */
function startLink(service: Service, url = service.url) {
  const link = service.createLink(url)
  const id = randomBytes(8).toString('latin1')
  const messages: Uint8Array[] = []
  const senders = new Set<string>()
  const events: string[] = []
  link.start(id, {
    onMessage: (message, from) => {
      messages.push(message)
      senders.add(from)
    },
    onConnected: () => events.push('connected'),
    onDisconnected: () => events.push('disconnected'),
    onUnreachable: () => events.push('unreachable'),
  })
  onTestFinished(() => link.stop())
  return { id, link, messages, senders, events }
}

async function startProxy(url: string): Promise<Proxy> {
  const proxy = await Proxy.start(url)
  onTestFinished(() => proxy.close())
  return proxy
}

const until = async (condition: () => boolean) => expect.poll(condition, { interval: 5 }).toBe(true)
const connected = (...links: { link: ServerLink }[]) =>
  until(() => links.every(({ link }) => link.isConnected))
const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, index) => (index * 7 + size) % 256)
const hex = (messages: readonly Uint8Array[]) => messages.map((one) => Buffer.from(one).toString('hex'))
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => Uint8Array.from(Buffer.from(String(from + index))))

describe.each([memory, postgres, redis])('link: $name', (service) => {
  beforeAll(() => service.prepare())

  test('[B1.2] a message of any bytes and size reaches all other servers unchanged and in order, and not its sender', async () => {
    const [a, b, c] = [startLink(service), startLink(service), startLink(service)]
    await connected(a, b, c)
    const sizes = [0, 1, 256, 5_981, 5_982, 5_983, 7_999, 8_001, 300_000, 2]
    const sent = [...sizes.map(bytesOf), ...numbered(0, 500)]
    for (const message of sent) a.link.send(message)
    b.link.send(bytesOf(3))
    const expected = [1, sent.length, sent.length + 1]
    await until(() => [a, b, c].every(({ messages }, index) => messages.length === expected[index]))
    const fromB = bytesOf(3)
    expect(hex(b.messages)).toEqual(hex(sent))
    expect(hex(a.messages)).toEqual(hex([fromB]))
    expect(hex(c.messages.filter((one) => !Buffer.from(fromB).equals(one)))).toEqual(hex(sent))
    expect([...a.senders, ...b.senders]).toEqual([b.id, a.id])
    expect(a.link.delayMs).toBeGreaterThanOrEqual(0)
  })

  test('[B1.2] a message to some servers reaches only them, in order with the messages to all', async () => {
    const [a, b, c, d] = [1, 2, 3, 4].map(() => startLink(service)) as [Started, Started, Started, Started]
    await connected(a, b, c, d)
    const recipients = [[b.id], undefined, [b.id, c.id], [d.id], undefined, [c.id], ['unknown.'], undefined]
    // The sizes differ, and some do not fit into one frame.
    const sent = recipients.map((to, index) => ({ to, message: bytesOf(4_000 * index + 1) }))
    for (const { to, message } of sent) a.link.send(message, to)
    const others = [b, c, d]
    const last = sent.at(-1)?.message.length
    await until(() => others.every(({ messages }) => messages.at(-1)?.length === last))
    for (const { id, messages } of others) {
      expect(hex(messages)).toEqual(
        hex(sent.flatMap(({ to, message }) => (to === undefined || to.includes(id) ? [message] : []))),
      )
    }
    expect(a.messages).toEqual([])
  })

  test('[B1.2] a message that is sent before the link is connected, or after it was stopped, is dropped', async () => {
    const [a, b] = [service.createLink(service.url), startLink(service)]
    await connected(b)
    expect(a.isConnected).toBe(false)
    a.send(bytesOf(1))
    const ignored = { onMessage: () => {}, onConnected: () => {}, onDisconnected: () => {} }
    a.start('server-a', { ...ignored, onUnreachable: () => {} })
    await connected({ link: a })
    a.send(bytesOf(2))
    await a.stop()
    a.send(bytesOf(3))
    await until(() => b.messages.length > 0)
    expect(b.messages.map((one) => one.length)).toEqual([2])
    expect(a.droppedMessages).toBe(2)
  })
})

describe.each([postgres, redis])('connection of a link: $name', (service) => {
  beforeAll(() => service.prepare())

  test('[B1.3] a link whose connections were ended connects again by itself, and reports both once', async () => {
    const [a, b] = [startLink(service), startLink(service)]
    await connected(a, b)
    await service.killConnections()
    await until(() => [a, b].every(({ events }) => events.length === 3))
    for (const message of numbered(0, 50)) a.link.send(message)
    await until(() => b.messages.length === 50)
    for (const { events } of [a, b]) expect(events).toEqual(['connected', 'disconnected', 'connected'])
  })

  test('[B1.3] a link notices that its connection is silent, drops what is sent, and connects again', async () => {
    const proxy = await startProxy(service.url)
    const [a, b] = [startLink(service, proxy.url), startLink(service)]
    await connected(a, b)
    proxy.pass('none')
    a.link.send(bytesOf(1))
    await until(() => a.events.includes('disconnected'))
    a.link.send(bytesOf(2))
    proxy.pass('both')
    await until(() => a.events.length === 3)
    a.link.send(bytesOf(3))
    await until(() => b.messages.length > 0)
    expect(b.messages.map((one) => one.length)).toEqual([3])
    expect(a.events).toEqual(['connected', 'disconnected', 'connected'])
    expect(b.events).toEqual(['connected'])
  })

  test('[B1.3] a link whose service is absent says so once, and connects when it appears', async () => {
    const proxy = await startProxy(service.url)
    proxy.refuse()
    const [a, b] = [startLink(service, proxy.url), startLink(service)]
    await until(() => a.events.length > 0)
    a.link.send(bytesOf(1))
    proxy.restore()
    await connected(a, b)
    b.link.send(bytesOf(2))
    await until(() => a.messages.length > 0)
    expect(a.events).toEqual(['unreachable', 'connected'])
  })

  test('[B1.3] a link that is stopped while it connects or waits leaves no connection and no timer', async () => {
    const proxy = await startProxy(service.url)
    const modes = {
      silent: () => proxy.pass('none'),
      refusing: () => proxy.refuse(),
      open: () => proxy.restore(),
    }
    for (const [mode, set] of Object.entries(modes)) {
      set()
      const link = startLink(service, proxy.url)
      if (mode === 'refusing') await until(() => link.events.length > 0)
      if (mode === 'open') await connected(link)
      await link.link.stop()
      const { events } = link
      const before = events.length
      await until(() => proxy.openConnections === 0)
      expect(events).toHaveLength(before)
    }
  })
})

describe('Redis', () => {
  test('[B1.4] all servers of a database have the same channels, and those of a copy have others', async () => {
    const url = await createPostgresDatabase()
    const open = async (at: string) => {
      const database = await openPostgres({ url: at, dataDir: '', poolSize: 1, durability: 'relaxed' })
      onTestFinished(() => database.close())
      return database
    }
    const original = await open(url)
    await original.write(async (db) =>
      signingKeys.add(db, await newSigningKey(createSecrets('x'.repeat(32)), 1)),
    )
    const id = await databaseId(original.read)
    await original.close()
    const copyUrl = new URL(url)
    copyUrl.pathname += '_copy'
    const admin = new pg.Client({ connectionString: url.replace(/[^/]+$/, 'postgres') })
    await admin.connect()
    await admin.query(
      `create database "${copyUrl.pathname.slice(1)}" template "${new URL(url).pathname.slice(1)}"`,
    )
    await admin.end()
    expect(await databaseId((await open(url)).read)).toBe(id)
    expect(await databaseId((await open(copyUrl.href)).read)).not.toBe(id)
  })

  test('[B1.4] servers of different databases can share one Redis', async () => {
    const { url } = await redisForTests()
    const ofDatabase = (id: string) =>
      startLink({
        ...redis,
        createLink: () => createRedisLink({ url, timing, findDatabaseId: async () => id }),
      })
    const [a, b, other] = [ofDatabase('one'), ofDatabase('one'), ofDatabase('two')]
    await connected(a, b, other)
    other.link.send(bytesOf(1))
    a.link.send(bytesOf(2))
    await until(() => b.messages.length > 0)
    expect(b.messages.map((one) => one.length)).toEqual([2])
    expect(other.messages).toEqual([])
  })

  test('[B1.4] a wrong password is reported without the password, and rediss:// refuses a certificate of nobody known', async () => {
    const { url } = await redisForTests()
    const reasons: string[] = []
    const report = (address: string) => {
      const link = redis.createLink(address)
      const ignored = { onMessage: () => {}, onConnected: () => {}, onDisconnected: () => {} }
      link.start('server-a', { ...ignored, onUnreachable: (reason) => reasons.push(reason) })
      onTestFinished(() => link.stop())
    }
    report(url.replace('//', '//nobody:canary@'))
    await until(() => reasons.length === 1)
    const tls = createServer({ cert: certificate, key: certificateKey }).listen(0, '127.0.0.1')
    onTestFinished(() => void tls.close())
    await once(tls, 'listening')
    report(`rediss://u:canary@127.0.0.1:${(tls.address() as AddressInfo).port}`)
    await until(() => reasons.length === 2)
    expect(reasons[0]).toMatch(/^WRONGPASS /)
    expect(reasons[1]).toMatch(/^self-signed certificate/)
    expect(reasons.join()).not.toContain('canary')
  })
})
