import { closeCodes } from '@plenum/protocol/realtime'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import {
  createPostgresDatabase,
  startServer,
  stores,
  type TestServer,
  useServer,
} from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket, saved } from '../../support/clients/hocuspocus-client.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const rateReason =
  'A user creates at most 5 documents a minute by opening (LIMIT_CREATED_BY_OPENING_PER_MINUTE).'
const dayReason =
  'An API key creates at most 7 documents a day by opening (LIMIT_CREATED_BY_OPENING_PER_DAY).'

const viewerOfOne = (tenant: given.Tenant, userId: string) =>
  tokenFor(tenant, userId, {
    resources: [{ type: 'document', id: 'public', organizationId: 'org_1', accessRole: 'viewer' }],
  })

/** Opens documents of organizations that do not exist, all at once, and returns the answers of the server. */
async function openMany(client: RealtimeSocket, name: string, count: number) {
  for (let ref = 1; ref <= count; ref++)
    client.send({ type: 'open', ref, organizationId: `${name} ${ref}`, documentId: 'd', topics: [] })
  const answers = () => client.messages.filter((message) => 'ref' in message)
  await eventually(() => answers().length).toBe(count)
  return {
    opened: answers().filter(({ type }) => type === 'opened').length,
    refused: answers().flatMap((one) => (one.type === 'closed' ? `${one.code} ${one.reason}` : [])),
  }
}

const organizationsOf = async ({ client }: given.Tenant) =>
  (await client.organizations.get({ pageSize: 1000 })).data.length

describe.each(stores)('the creation rate of each user on %s', (store) => {
  const server = useServer(store, { isAlone: true, env: { LIMIT_CREATED_BY_OPENING_PER_MINUTE: '5' } })

  test('[R17] [K3.1] the client reports the reason of the creation limit as an error event and reconnects the document', async () => {
    const tenant = await given.tenant(server)
    const connection = plenumConnection(server.client(), await tokenFor(tenant))
    const errors: unknown[] = []
    const documents = Array.from({ length: 6 }, (_, i) => connection.document('org_1', `fresh ${i}`))
    for (const document of documents) {
      const reason = `org_1/${document.documentId}: ${rateReason}`
      document.on('error', ({ status, message }) =>
        errors.push([document.status, status, message === reason]),
      )
    }
    await eventually(() => errors).toEqual([['reconnecting', 'RESOURCE_EXHAUSTED', true]])
  })

  test('[R17] a viewer of one document cannot create more documents than the rate of the user allows, on all connections together', async () => {
    const tenant = await given.tenant(server)
    const eve = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'eve'))
    const { opened, refused } = await openMany(eve, 'eve', 30)
    expect(opened).toBe(5)
    expect(new Set(refused)).toEqual(new Set([`${closeCodes.rateLimited} ${rateReason}`]))
    expect(await organizationsOf(tenant)).toBe(5)

    // A second connection of the same user shares the rate. Another user has their own rate.
    const again = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'eve'))
    expect((await openMany(again, 'again', 3)).opened).toBe(0)
    const bob = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'bob'))
    expect((await openMany(bob, 'bob', 2)).opened).toBe(2)
  })

  test('[R17.3] a user who reached the creation limit can open existing documents', async () => {
    const tenant = await given.tenant(server)
    const eve = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'eve'))
    await openMany(eve, 'eve', 6)
    const documents = Array.from({ length: 20 }, (_, index) => ({ documentId: `d${index}` }))
    await tenant.client.documents.add({ organizationId: 'org_1', createOrganization: true, documents })
    for (const [index, { documentId }] of documents.entries()) {
      await eve.open(documentId, { ref: 100 + index })
    }
  })

  test('[R17.3] backends can create documents without a limit', async () => {
    const tenant = await given.tenant(server)
    const backend = new RealtimeSocket(server, { headers: tenant.headers })
    await backend.connected()
    expect((await openMany(backend, 'backend', 20)).opened).toBe(20)
    for (let index = 0; index < 20; index++) {
      await tenant.client.documents.add({
        organizationId: `rest ${index}`,
        createOrganization: true,
        documents: [{ documentId: 'd' }],
      })
    }
    expect(await organizationsOf(tenant)).toBe(40)
  })

  test('[R17] a document is created for a user within the rate, and a user over the rate can then open it', async () => {
    const tenant = await given.tenant(server)
    const eve = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'eve'))
    await openMany(eve, 'eve', 6)
    const bob = await RealtimeSocket.connect(server, await viewerOfOne(tenant, 'bob'))
    await bob.open('d', { organizationId: 'of both' })
    await eve.open('d', { organizationId: 'of both', ref: 100 })
  })

  test('[R17] a y-websocket client over the rate is closed with the retryable code 4029', async () => {
    const tenant = await given.tenant(server)
    const token = await viewerOfOne(tenant, 'eve')
    await openMany(await RealtimeSocket.connect(server, token), 'eve', 5)
    const socket = new RawSocket(server, `/yjs/other/d/note?token=${token}`)
    expect(await socket.closed).toEqual({ code: 4029, reason: rateReason })
  })

  test('[R17] a Hocuspocus provider of a user over the rate is refused, and the other editor of its socket continues', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    const first = hocuspocusClient(server, token, { socket, name: 'org_1/doc_1/note' })
    await synced(first)
    await openMany(await RealtimeSocket.connect(server, token), 'ada', 5)
    const reasons: string[] = []
    hocuspocusClient(server, token, {
      socket,
      name: 'org_1/doc_2/note',
      onAuthenticationFailed: ({ reason }) => void reasons.push(reason),
    })
    await eventually(() => reasons).toEqual([rateReason])
    first.text.insert(0, 'still here')
    await saved(first)
    expect(first.provider.isSynced).toBe(true)
  })
})

describe.each(stores)('the daily creation limit of each API key on %s', (store) => {
  const env = { LIMIT_CREATED_BY_OPENING_PER_DAY: '7' }

  const dayMs = 24 * 60 * 60 * 1000
  /** Moves the clock to noon, so the day does not end during the test. */
  const untilNoonMs = () => dayMs / 2 - (Date.now() % dayMs)

  async function createdBy(server: TestServer, tenant: given.Tenant, name: string): Promise<number> {
    const clients = await Promise.all(
      Array.from({ length: 4 }, async (_, index) =>
        RealtimeSocket.connect(server, await viewerOfOne(tenant, `${name}-${index}`)),
      ),
    )
    const answers = await Promise.all(
      clients.map((client, index) => openMany(client, `${name} ${index}`, 10)),
    )
    const refused = new Set(answers.flatMap((answer) => answer.refused))
    expect(refused).toEqual(new Set([`${closeCodes.tooMany} ${dayReason}`]))
    return answers.reduce((sum, { opened }) => sum + opened, 0)
  }

  test('[R17.1] all users together stay within the daily limit across a restart, and the limit is reset the next day', async () => {
    const first = await startServer(store, { env })
    first.clock.offsetMs = untilNoonMs()
    const tenant = await given.tenant(first)
    expect(await createdBy(first, tenant, 'first')).toBe(7)
    expect(await organizationsOf(tenant)).toBe(7)
    const second = await first.restart()
    onTestFinished(() => second.stop())
    second.clock.offsetMs = untilNoonMs()
    const same = { ...tenant, client: second.client(tenant) }
    expect(await createdBy(second, same, 'second')).toBe(0)
    second.clock.offsetMs += dayMs
    expect(await createdBy(second, same, 'tomorrow')).toBe(7)
  })
})

test('[R17.1] two servers on one database share the daily limit', async () => {
  const databaseUrl = await createPostgresDatabase()
  const env = { LIMIT_CREATED_BY_OPENING_PER_DAY: '60' }
  const servers = await Promise.all(
    ['a', 'b'].map((name) =>
      startServer('postgres', { env, data: { dataDir: `/tmp/plenum-none-${name}`, databaseUrl } }),
    ),
  )
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))))
  const [one, other] = servers as [TestServer, TestServer]
  const tenant = await given.tenant(one)
  const opened = await Promise.all(
    [one, other, one, other].map(async (server, index) => {
      const client = await RealtimeSocket.connect(server, await viewerOfOne(tenant, `u${index}`))
      return (await openMany(client, `u${index}`, 30)).opened
    }),
  )
  // The clients of each server try to open 60 documents, because a server cannot use what the other one has reserved.
  expect(opened.reduce((sum, count) => sum + count)).toBe(60)
})

describe.each(stores)('the editor limit of a document on %s', (store) => {
  const server = useServer(store, { env: { LIMIT_EDITORS_PER_DOCUMENT: '3' } })

  test('[R17.2] an editor beyond the limit is closed at its first update, and the other editors continue', async () => {
    const tenant = await given.tenant(server)
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant))
    await client.open()
    const update = (text: string) => {
      const doc = new Y.Doc()
      doc.getText('content').insert(0, text)
      return Y.encodeStateAsUpdate(doc)
    }
    const channels = Array.from({ length: 10 }, (_, index) => index + 1)
    for (const channel of channels) await client.openEditor(`e${channel}`, { channel })
    for (const channel of channels) client.sendFrame('update', update(`text ${channel}`), channel, 1)
    const savedOn = () => client.frames.filter(({ kind }) => kind === 'saved').map(({ channel }) => channel)
    const refused = () => client.messages.flatMap((one) => (one.type === 'editorClosed' ? one : []))
    await eventually(() => savedOn().length + refused().length).toBe(channels.length)
    expect(savedOn()).toHaveLength(3)
    const reason = 'A document has at most 3 editors (LIMIT_EDITORS_PER_DOCUMENT).'
    for (const one of refused()) expect(one).toMatchObject({ code: closeCodes.tooMany, reason })

    const [channel = 0] = savedOn()
    client.frames.splice(0)
    client.sendFrame('update', update('more'), channel, 2)
    await client.takeFrame('saved', channel)
    const { data } = await tenant.client.crdt.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(Object.keys(data)).toHaveLength(3)
  })

  test('[R17.3] a backend can add editors over REST above the limit for clients', async () => {
    const tenant = await given.tenant(server)
    const document = { organizationId: 'org_1', documentId: 'doc_1' }
    for (let index = 0; index < 5; index++)
      await tenant.client.crdt.add({ ...document, editorId: `e${index}`, type: 'text', data: 'x' })
    expect((await tenant.client.crdt.get(document)).data).toHaveLength(5)
  })
})
