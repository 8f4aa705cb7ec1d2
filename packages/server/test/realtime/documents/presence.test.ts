import { describe, expect, test } from 'vitest'
import { countSeconds } from '../../support/clock.ts'
import type { User } from '@plenum/protocol'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }
const minute = 60_000

/** Computes the contrast as WCAG 2 defines it. Text needs 4.5. */
function contrastWithWhite(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

describe.each(stores)('presence over sockets on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const connect = async (tenant: given.Tenant, userId = 'ada', role?: 'viewer' | 'editor') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId, { role }))
  /** Opens the document as a backend, which receives the list and is not listed. */
  const watch = async (tenant: given.Tenant) => {
    const client = new RealtimeSocket(server, { headers: tenant.headers })
    await client.take('ready')
    const view = new DocumentView(client)
    await client.open()
    return view
  }
  const withClock = async (work: () => Promise<void>) => {
    try {
      await work()
    } finally {
      server.clock.offsetMs = 0
    }
  }

  test('[R12] [R12.7] the presence list has users of /realtime, /yjs and /hocuspocus, including viewers, but no backends', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const ada = await connect(tenant, 'ada')
    await ada.open()
    const vic = await connect(tenant, 'vic', 'viewer')
    const { presence } = await vic.open()
    expect(presence?.map(({ userId }) => userId)).toEqual(['ada', 'vic'])
    const yjs = yjsClient(server, await tokenFor(tenant, 'yves'))
    const hocuspocus = hocuspocusClient(server, await tokenFor(tenant, 'hope'))
    await synced(yjs, hocuspocus)
    const everyone = { ada: 'online', hope: 'online', vic: 'online', yves: 'online' }
    await eventually(() => view.present).toEqual(everyone)
    expect(view.users.get('yves')).toEqual({
      userId: 'yves',
      name: 'Name of yves',
      email: 'yves@example.com',
      color: expect.stringMatching(/^#/),
      onlineStatus: 'online',
      source: 'client',
      timestamp: expect.any(Number),
    })
    yjs.provider.destroy()
    hocuspocus.provider.destroy()
    await ada.close()
    vic.send({ type: 'close', ref: 1 })
    await eventually(() => view.present).toEqual({})
  })

  test('[R12.4] a user without access is not listed, and a user who loses access leaves the list', async () => {
    const tenant = await given.tenant(server)
    const organizationId = await given.organization(tenant)
    const documents = [{ documentId: 'doc_1', accessType: 'restricted' as const }]
    await tenant.client.documents.add({ organizationId, documents })
    await given.users(tenant, ['ada'], documentRef)
    const view = await watch(tenant)
    const [ada, eve] = [await connect(tenant), await connect(tenant, 'eve')]
    eve.send({ type: 'open', ref: 1, ...documentRef, topics: ['presence'] })
    await eve.take('closed')
    await ada.open()
    await eventually(() => view.present).toEqual({ ada: 'online' })
    await tenant.client.users.delete({ ...documentRef, userIds: ['ada'] })
    await ada.take('closed')
    await eventually(() => view.present).toEqual({})
  })

  test('[R12.1] the identity in an entry comes from the token, whatever the client sends', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const eve = await connect(tenant, 'eve')
    await eve.open()
    const forged = { userId: 'ada', name: 'Ada', email: 'ada@example.com', source: 'rest', timestamp: 1 }
    eve.socket.send(
      JSON.stringify({ type: 'setPresence', ref: 1, ...forged, onlineStatus: 'offline', data: forged }),
    )
    await eventually(() => view.users.get('eve')?.data).toEqual(forged)
    expect([...view.users.values()]).toEqual([
      {
        userId: 'eve',
        name: 'Name of eve',
        email: 'eve@example.com',
        color: expect.stringMatching(/^#/),
        onlineStatus: 'online',
        data: forged,
        source: 'client',
        timestamp: expect.any(Number),
      },
    ])
    expect(view.users.get('eve')?.timestamp).toBeGreaterThan(1)
  })

  test('[R12.1] an entry has the photo and the color of the token or of the profile', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const view = await watch(tenant)
    const look = (userId: string) => {
      const { photoUrl, color } = view.users.get(userId) ?? {}
      return [photoUrl, color]
    }
    const { data } = await backend.auth.generateToken({
      userId: 'ada',
      userProperties: {
        name: 'Ada',
        email: 'ada@example.com',
        photoUrl: 'https://example.com/ada.png',
        color: 'rebeccapurple',
      },
      permissions: { resources: [{ type: 'organization', id: 'org_1' }] },
    })
    await (await RealtimeSocket.connect(server, data.token)).open()
    await eventually(() => look('ada')).toEqual(['https://example.com/ada.png', 'rebeccapurple'])

    const profiles = ['bob', 'cleo'].map((userId) => ({
      userId,
      photoUrl: `https://example.com/${userId}.png`,
      color: '#123456',
    }))
    await backend.users.add({ organizationId: 'org_1', users: profiles })
    await (await connect(tenant, 'bob')).open()
    await eventually(() => look('bob')).toEqual(['https://example.com/bob.png', '#123456'])
    await backend.presence.add({ ...documentRef, users: [{ userId: 'cleo' }, { userId: 'dan' }] })
    await eventually(() => look('cleo')).toEqual(['https://example.com/cleo.png', '#123456'])
    expect(look('dan')).toEqual([undefined, expect.stringMatching(/^#/)])

    await backend.users.update({ organizationId: 'org_1', users: [{ userId: 'cleo', color: '#654321' }] })
    await backend.presence.update({ ...documentRef, users: [{ userId: 'cleo' }] })
    await eventually(() => look('cleo')).toEqual(['https://example.com/cleo.png', '#654321'])
  })

  test('[R12.1] [12.2] a user without a color has the same derived color in presence and in Get Users, readable on white', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const userIds = Array.from({ length: 60 }, (_, index) => `user_${index}`)
    await backend.users.add({ organizationId: 'org_1', users: userIds.map((userId) => ({ userId })) })
    await backend.presence.add({ ...documentRef, users: userIds.map((userId) => ({ userId })) })
    const view = await watch(tenant)
    await eventually(() => view.users.size).toBe(60)
    const colors = new Map([...view.users.values()].map(({ userId, color }) => [userId, color]))
    const { data: stored } = await backend.users.get({ organizationId: 'org_1', pageSize: 60 })
    expect(new Map((stored as User[]).map(({ userId, color }) => [userId, color]))).toEqual(colors)
    expect(new Set(colors.values()).size).toBe(12)
    for (const color of colors.values()) expect(contrastWithWhite(color)).toBeGreaterThanOrEqual(4.5)
  })

  test('[R12] [R34.1] an omitted field of setPresence keeps its value, null removes the data, and data above the limit is refused', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const ada = await connect(tenant)
    await ada.open()
    const own = () => {
      const { onlineStatus, data } = view.users.get('ada') ?? {}
      return { onlineStatus, data }
    }
    ada.send({ type: 'setPresence', ref: 1, status: 'away', data: { cursor: [1, 2] } })
    await eventually(own).toEqual({ onlineStatus: 'away', data: { cursor: [1, 2] } })
    ada.send({ type: 'setPresence', ref: 1, data: { cursor: null } })
    await eventually(own).toEqual({ onlineStatus: 'away', data: { cursor: null } })
    ada.send({ type: 'setPresence', ref: 1, status: 'online' })
    await eventually(own).toEqual({ onlineStatus: 'online', data: { cursor: null } })
    ada.send({ type: 'setPresence', ref: 1, data: { much: 'é'.repeat(8_200) } })
    expect(await ada.take('error')).toEqual({
      type: 'error',
      ref: 1,
      status: 'INVALID_ARGUMENT',
      message: 'The data of a presence must not be larger than 16 KiB.',
    })
    ada.send({ type: 'setPresence', ref: 1, status: 'offline', data: null })
    await eventually(own).toEqual({ onlineStatus: 'offline', data: undefined })
  })

  test('[R12] a user has one entry with the best status and the data of the most recently active client', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const [desk, phone] = [await connect(tenant), await connect(tenant)]
    await desk.open()
    await phone.open()
    const own = () => {
      const { onlineStatus, data } = view.users.get('ada') ?? {}
      return [onlineStatus, data?.on]
    }
    desk.send({ type: 'setPresence', ref: 1, status: 'online', data: { on: 'desk' } })
    await eventually(own).toEqual(['online', 'desk'])
    phone.send({ type: 'setPresence', ref: 1, status: 'away', data: { on: 'phone' } })
    await eventually(own).toEqual(['online', 'phone'])
    desk.send({ type: 'setPresence', ref: 1, status: 'offline' })
    await eventually(own).toEqual(['away', 'desk'])
    // A ping is not activity.
    await phone.settled()
    phone.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data: {} })
    await eventually(own).toEqual(['away', 'phone'])
    await phone.close()
    await eventually(own).toEqual(['offline', 'desk'])
    expect(view.users.size).toBe(1)
    await desk.close()
    await eventually(() => view.present).toEqual({})
  })

  test('[R12] a user who closes a document and opens it again at once is listed once', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const ada = await connect(tenant)
    await ada.open('doc_1', { ref: 1 })
    ada.send({ type: 'close', ref: 1 })
    expect((await ada.open('doc_1', { ref: 2 })).presence).toMatchObject([{ userId: 'ada' }])
    await eventually(() => view.present).toEqual({ ada: 'online' })
  })

  test('[R12.5] entries that backends add, update and delete reach clients at once, and late joiners see them', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const ada = await connect(tenant)
    const view = new DocumentView(ada)
    await ada.open()
    const users = [
      { userId: 'bob', name: 'Bob', email: 'bob@example.com' },
      { userId: 'cleo', status: 'away' as const },
    ]
    await backend.presence.add({ ...documentRef, users })
    await eventually(() => view.present).toEqual({ ada: 'online', bob: 'online', cleo: 'away' })
    expect(view.users.get('bob')).toEqual({
      userId: 'bob',
      name: 'Bob',
      email: 'bob@example.com',
      color: expect.stringMatching(/^#/),
      onlineStatus: 'online',
      source: 'rest',
      timestamp: expect.any(Number),
    })
    await backend.presence.update({
      ...documentRef,
      users: [{ userId: 'bob', status: 'away' }, { userId: 'nobody' }],
    })
    await eventually(() => view.present).toEqual({ ada: 'online', bob: 'away', cleo: 'away' })
    expect(view.users.get('bob')?.name).toBe('Bob')
    const dan = await connect(tenant, 'dan')
    const late = new DocumentView(dan)
    await dan.open()
    await eventually(() => Object.keys(late.present).toSorted()).toEqual(['ada', 'bob', 'cleo', 'dan'])
    await backend.presence.delete({ ...documentRef, userIds: ['bob', 'cleo', 'nobody'] })
    await eventually(() => view.present).toEqual({ ada: 'online', dan: 'online' })
  })

  test('[R12.5] [R12.6] the latest update of a client or a backend wins', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const view = await watch(tenant)
    await backend.presence.add({
      ...documentRef,
      users: [{ userId: 'ada', name: 'Augusta', status: 'away' }],
    })
    const ada = await connect(tenant)
    const own = () => {
      const { name, onlineStatus, source, data } = view.users.get('ada') ?? {}
      return [name, onlineStatus, source, data?.at]
    }
    await eventually(own).toEqual(['Augusta', 'away', 'rest', undefined])
    await ada.open()
    await eventually(own).toEqual(['Name of ada', 'online', 'client', undefined])
    ada.send({ type: 'setPresence', ref: 1, data: { at: 'work' } })
    await eventually(own).toEqual(['Name of ada', 'online', 'client', 'work'])
    await backend.presence.update({ ...documentRef, users: [{ userId: 'ada', status: 'offline' }] })
    await eventually(own).toEqual(['Augusta', 'offline', 'rest', 'work'])
    await ada.settled()
    await eventually(own).toEqual(['Name of ada', 'online', 'client', 'work'])
    await backend.presence.delete({ ...documentRef, userIds: ['ada'] })
    await eventually(() => view.present).toEqual({})
    ada.send({ type: 'setPresence', ref: 1 })
    await eventually(own).toEqual(['Name of ada', 'online', 'client', 'work'])
    await backend.presence.add({ ...documentRef, users: [{ userId: 'ada', status: 'away' }] })
    await ada.close()
    await eventually(own).toEqual([undefined, 'away', 'rest', undefined])
  })

  test('[R12.6] a Yjs user whom a backend deleted from the list is listed again with the next change', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const yjs = yjsClient(server, await tokenFor(tenant, 'yves'))
    await synced(yjs)
    await eventually(() => view.present).toEqual({ yves: 'online' })
    await tenant.client.presence.delete({ ...documentRef, userIds: ['yves'] })
    await eventually(() => view.present).toEqual({})
    yjs.text.insert(0, 'x')
    await eventually(() => view.present).toEqual({ yves: 'online' })
    await tenant.client.presence.delete({ ...documentRef, userIds: ['yves'] })
    await eventually(() => view.present).toEqual({})
    yjs.provider.awareness.setLocalStateField('user', { name: 'Yves' })
    await eventually(() => view.present).toEqual({ yves: 'online' })
  })

  test('[R12.2] [R12.3] a user without activity is away after 5 minutes and offline after 10, and pings at /realtime keep the status', () =>
    withClock(async () => {
      const tenant = await given.tenant(server)
      const view = await watch(tenant)
      const yjs = yjsClient(server, await tokenFor(tenant, 'yves'))
      const [silent, talker] = [await connect(tenant, 'sal'), await connect(tenant, 'tom')]
      await synced(yjs)
      await silent.open()
      await talker.open()
      await eventually(() => view.present).toEqual({ sal: 'online', tom: 'online', yves: 'online' })
      const present = async () => {
        await talker.settled()
        return view.present
      }
      server.clock.offsetMs = 5 * minute + 1000
      await eventually(present).toEqual({ sal: 'away', tom: 'online', yves: 'away' })
      server.clock.offsetMs = 10 * minute + 1000
      await eventually(present).toEqual({ sal: 'offline', tom: 'online', yves: 'offline' })
      yjs.provider.awareness.setLocalStateField('cursor', 1)
      await eventually(present).toEqual({ sal: 'offline', tom: 'online', yves: 'online' })
      server.clock.offsetMs = 15 * minute + 2000
      // Sending an unchanged state is not activity.
      yjs.provider.awareness.setLocalState(yjs.provider.awareness.getLocalState())
      await eventually(present).toEqual({ sal: 'offline', tom: 'online', yves: 'away' })
      yjs.text.insert(0, 'back')
      silent.send({ type: 'setPresence', ref: 1 })
      await eventually(() => view.present).toEqual({ sal: 'online', tom: 'online', yves: 'online' })
    }))

  test('[15] a presence entry that a backend set ends 24 hours after its last update', () =>
    withClock(async () => {
      const tenant = await given.tenant(server)
      const { client: backend } = tenant
      const view = await watch(tenant)
      await backend.presence.add({ ...documentRef, users: [{ userId: 'bob' }, { userId: 'cleo' }] })
      await eventually(() => view.present).toEqual({ bob: 'online', cleo: 'online' })
      server.clock.offsetMs = 12 * 60 * minute
      await backend.presence.update({ ...documentRef, users: [{ userId: 'cleo' }] })
      server.clock.offsetMs = 24 * 60 * minute + 1000
      await eventually(() => view.present).toEqual({ cleo: 'online' })
    }))

  test('[R12] deleting a document deletes the presence entries of backends', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.presence.add({ ...documentRef, users: [{ userId: 'bob' }] })
    const ada = await connect(tenant)
    expect((await ada.open()).presence).toHaveLength(2)
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await ada.take('closed')
    expect((await ada.open()).presence).toMatchObject([{ userId: 'ada' }])
  })

  test('[R12] a client that does not subscribe to presence receives none and is listed', async () => {
    const tenant = await given.tenant(server)
    const view = await watch(tenant)
    const ada = await connect(tenant)
    expect(await ada.open('doc_1', { topics: ['liveState'] })).not.toHaveProperty('presence')
    await eventually(() => view.present).toEqual({ ada: 'online' })
    const bob = await connect(tenant, 'bob')
    await bob.open()
    await ada.settled()
    expect(ada.messages).toEqual([])
  })

  test('[R12.8] 200 presence changes at the same moment are sent in fewer than 50 messages', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connect(tenant), await connect(tenant, 'bob')]
    await ada.open()
    await bob.open()
    const view = new DocumentView(ada)
    await eventually(() => view.present).toHaveProperty('bob')
    ada.messages.length = 0
    for (let at = 0; at < 200; at++) bob.send({ type: 'setPresence', ref: 1, data: { at } })
    await eventually(() => view.users.get('bob')?.data).toEqual({ at: 199 })
    expect(ada.messages.filter(({ type }) => type === 'presence').length).toBeLessThan(50)
  })
})

describe('presence of dead connections', () => {
  const clockSpeed = 20
  const server = useServer(anyStore, { clockSpeed })

  test('[R12.4] the user of a connection that stops responding leaves the list within 35 s', async () => {
    const tenant = await given.tenant(server)
    const watcher = new RealtimeSocket(server, { headers: tenant.headers })
    await watcher.take('ready')
    const view = new DocumentView(watcher)
    await watcher.open()
    const json = await RealtimeSocket.connect(server, await tokenFor(tenant, 'ada'))
    await json.open()
    const yjs = new RawSocket(server, `/yjs/${editorName}?token=${await tokenFor(tenant, 'yves')}`)
    await eventually(() => view.present).toEqual({ ada: 'online', yves: 'online' })
    // Paused sockets read nothing, so they answer no pings.
    json.socket.pause()
    yjs.socket.pause()
    const seconds = countSeconds(clockSpeed)
    await eventually(() => view.present).toEqual({})
    // And a second for the message.
    expect(seconds()).toBeLessThanOrEqual(36)
  })
})

describe('large presence lists', () => {
  const server = useServer(anyStore)
  const connect = async (tenant: given.Tenant, userId: string) =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId))
  const large = 'x'.repeat(16_000)

  test('[R36] a presence list above 1 MiB is split between opened and later messages', async () => {
    const tenant = await given.tenant(server)
    const users = await Promise.all(
      Array.from({ length: 68 }, async (_, index) => {
        const client = await connect(tenant, `user_${index}`)
        await client.open('doc_1', { topics: [] })
        client.send({ type: 'setPresence', ref: 1, data: { index, large } })
        await client.settled()
        return client
      }),
    )
    const late = await connect(tenant, 'late')
    const view = new DocumentView(late)
    const { presence = [] } = await late.open()
    const bytes = Buffer.byteLength(JSON.stringify(presence))
    expect(bytes).toBeLessThan(1024 * 1024 + 100)
    expect(bytes).toBeGreaterThan(1_000_000)
    await eventually(() => view.users.size).toBe(69)
    for (const [index] of users.entries()) {
      expect(view.users.get(`user_${index}`)?.data).toEqual({ index, large })
    }
  })

  test('[R34] [R34.1] a connection stores at most 1 MiB of presence data in all its documents, and removed data frees its space', async () => {
    const tenant = await given.tenant(server)
    const ada = await connect(tenant, 'ada')
    const documents = 66
    for (let ref = 1; ref <= documents; ref++) await ada.open(`doc_${ref}`, { ref, topics: [] })
    const set = (ref: number, data: object | null) =>
      ada.send({ type: 'setPresence', ref, data: data as Record<string, unknown> })
    for (let ref = 1; ref <= documents; ref++) set(ref, { large })
    expect(await ada.take('error')).toEqual({
      type: 'error',
      ref: documents,
      status: 'RESOURCE_EXHAUSTED',
      message: 'A connection has at most 1 MiB of presence data and awareness states.',
    })
    set(1, null)
    set(documents, { large })
    ada.send({ type: 'close', ref: 2 })
    await ada.open('doc_2', { ref: 200, topics: [] })
    set(200, { large })
    await ada.settled()
    expect(ada.messages).toEqual([])
  })
})

describe.each(stores)('the largest presence lists on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const connect = async (tenant: given.Tenant, userId: string) =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId, { role: 'viewer' }))

  test('[S2] opening a document with the most users that backends can add does not block the event loop', async () => {
    const tenant = await given.tenant(server)
    const name = 'ä'.repeat(1_000)
    const users = Array.from({ length: 1_000 }, (_, index) => ({ userId: `user_${index}`, name }))
    for (const from of [0, 500]) {
      await tenant.client.presence.add({ ...documentRef, users: users.slice(from, from + 500) })
    }
    const client = await connect(tenant, 'ada')
    await expectShortIterations(() => client.open('doc_1', { ref: 1, topics: ['presence'] }))
    const bob = await connect(tenant, 'bob')
    const view = new DocumentView(bob)
    await bob.open()
    await eventually(() => view.users.size).toBe(1_002)
  })
})
