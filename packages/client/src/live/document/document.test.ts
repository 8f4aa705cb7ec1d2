import { describe, expect, test, vi } from 'vitest'
import { closeCodes, type LiveStateValue } from '@plenum/protocol/realtime'
import { useFakes } from '../../../test/support/fakes.ts'
import type { ApiError } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

const state = (liveStateDataId: string, data: Record<string, unknown>): LiveStateValue => ({
  id: liveStateDataId,
  liveStateDataId,
  data,
  lastUpdated: 0,
  updatedBy: { userId: 'bob' },
})

const at = (seq: number, epoch = 'e') => ({ epoch, seq })

/** Answers the newest opening. */
function opened(seq: number, states: LiveStateValue[] = [], { reset = true, epoch = 'e' } = {}): number {
  const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
  fakes.server.socket.say({
    type: 'opened',
    ref,
    accessRole: 'editor',
    position: at(seq, epoch),
    reset,
    liveStates: states,
  })
  return ref
}

async function openDocument() {
  const connection = await connect()
  const document = connection.document('org_1', 'doc_1')
  fakes.server.socket.welcome()
  return { connection, document }
}

async function reconnected() {
  fakes.server.socket.drop()
  await untilNextSocket()
  fakes.server.socket.welcome()
}

const valuesOf = (document: Awaited<ReturnType<typeof openDocument>>['document'], ...ids: string[]) =>
  ids.map((id) => document.liveState(id).value)

describe('[K4] a document that was lost', () => {
  test('[K4] is asked for what happened since its position, and takes that on top', async () => {
    const { document } = await openDocument()
    expect(fakes.server.socket.sent('open')).toEqual([
      {
        type: 'open',
        ref: 1,
        organizationId: 'org_1',
        documentId: 'doc_1',
        topics: ['presence', 'liveState'],
      },
    ])
    const ref = opened(5, [state('a', { n: 1 }), state('b', { n: 1 })])
    fakes.server.socket.say({ type: 'liveState', ref, position: at(7), states: [state('b', { n: 2 })] })
    await reconnected()
    expect(document.status).toBe('reconnecting')
    expect(fakes.server.socket.sent('open')[0]).toMatchObject({ since: at(7) })
    opened(9, [state('c', { n: 3 })], { reset: false })
    expect(document.status).toBe('connected')
    expect(valuesOf(document, 'a', 'b', 'c')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    await reconnected()
    expect(fakes.server.socket.sent('open')[0]).toMatchObject({ since: at(9) })
  })

  test('[K4] forgets what it had when the server starts anew', async () => {
    const { document } = await openDocument()
    opened(5, [state('a', { n: 1 }), state('b', { n: 1 })])
    const heard: unknown[] = []
    document.liveState('b').subscribe((value) => heard.push(value))
    await reconnected()
    opened(2, [state('a', { n: 9 })], { epoch: 'f' })
    expect(valuesOf(document, 'a', 'b')).toEqual([{ n: 9 }, undefined])
    expect(heard).toEqual([undefined])
  })

  test('[K4] forgets its own changes too when they were of another epoch', async () => {
    const { document } = await openDocument()
    opened(5)
    const set = document.liveState('a').set({ n: 1 })
    fakes.server.socket.say({ type: 'done', id: 1, position: at(100) })
    await set
    expect(valuesOf(document, 'a')).toEqual([{ n: 1 }])
    await reconnected()
    opened(2, [], { epoch: 'f' })
    expect(valuesOf(document, 'a')).toEqual([undefined])
  })

  test('[K4] is opened anew when changes of another epoch arrive, rather than with a gap', async () => {
    const { document } = await openDocument()
    const ref = opened(5, [state('a', { n: 1 })])
    fakes.server.socket.say({ type: 'liveState', ref, position: at(6, 'f'), states: [state('b', { n: 2 })] })
    expect(fakes.server.socket.sent('close')).toEqual([{ type: 'close', ref }])
    expect(fakes.server.socket.sent('open').at(-1)).not.toHaveProperty('since')
    opened(6, [state('b', { n: 2 })], { epoch: 'f' })
    expect(valuesOf(document, 'a', 'b')).toEqual([undefined, { n: 2 }])
  })

  test('[K4] does not go back to changes that it has already', async () => {
    const { document } = await openDocument()
    const ref = opened(5, [state('a', { n: 5 })])
    fakes.server.socket.say({ type: 'liveState', ref, position: at(4), states: [state('a', { n: 4 })] })
    expect(valuesOf(document, 'a')).toEqual([{ n: 5 }])
  })

  test('[K4] hears nothing of what is said to its earlier opening', async () => {
    const { document } = await openDocument()
    const ref = opened(5)
    fakes.server.socket.say({ type: 'closed', ref, code: closeCodes.unavailable, reason: 'later' })
    expect(document.status).toBe('reconnecting')
    await vi.advanceTimersByTimeAsync(100)
    expect(opened(5)).toBe(2)
    expect(document.status).toBe('connected')
    fakes.server.socket.say({ type: 'liveState', ref, position: at(6), states: [state('a', { n: 1 })] })
    fakes.server.socket.say({ type: 'closed', ref, code: closeCodes.permissionDenied, reason: 'no' })
    expect(valuesOf(document, 'a')).toEqual([undefined])
    expect(document.status).toBe('connected')
  })

  test.each(['', 'x'.repeat(257)])(
    '[K4] an id that the server would refuse is refused here: %#',
    async (id) => {
      const { connection, document } = await openDocument()
      const accepted = 'must be a string with 1 to 256 characters.'
      expect(() => connection.document('org_1', id)).toThrow(`documentId ${accepted}`)
      expect(() => document.liveState(id)).toThrow(`liveStateDataId ${accepted}`)
      expect(() => document.editor(id)).toThrow(`editorId ${accepted}`)
      expect(document.liveState('😀'.repeat(256)).liveStateDataId).toHaveLength(512)
    },
  )

  test('[K3.1] the reason of a rate limit is an error event, once, and the document is tried again', async () => {
    const { document, connection } = await openDocument()
    const errors: ApiError[] = []
    document.on('error', (error) => errors.push(error))
    connection.on('error', (error) => errors.push(error))
    const reason = 'At most 5 documents a minute (LIMIT_CREATED_BY_OPENING_PER_MINUTE).'
    const refuse = () => {
      const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
      fakes.server.socket.say({ type: 'closed', ref, code: closeCodes.rateLimited, reason })
    }
    fakes.server.socket.welcome()
    refuse()
    expect(document.status).toBe('reconnecting')
    const error = { status: 'RESOURCE_EXHAUSTED', message: `org_1/doc_1: ${reason}`, details: { code: 4029 } }
    expect(errors).toMatchObject([error, error])
    await vi.advanceTimersByTimeAsync(200)
    refuse()
    expect(fakes.server.socket.sent('open')).toHaveLength(2)
    expect(errors).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(400)
    opened(5)
    expect(document.status).toBe('connected')
  })

  test('[K4] stays closed where trying again changes nothing', async () => {
    const { connection, document } = await openDocument()
    const ref = opened(5, [state('a', { n: 1 })])
    const editor = document.editor('note')
    fakes.server.socket.say({ type: 'closed', ref, code: closeCodes.permissionDenied, reason: 'No grant.' })
    expect(connection.status).toBe('connected')
    expect(document.status).toBe('denied')
    expect(editor.status).toBe('denied')
    await reconnected()
    expect(fakes.server.socket.sent('open')).toEqual([])
    document.close()
    connection.document('org_1', 'doc_1')
    expect(fakes.server.socket.sent('open')).toHaveLength(1)
  })
})

test.each(['', 'x'.repeat(257), 5])('[K4] an id must be a string that a message can hold: %s', async (id) => {
  const { connection, document } = await openDocument()
  const bad = id as string
  expect(() => connection.document(bad, 'doc_1')).toThrow('organizationId must be')
  expect(() => connection.document('org_1', bad)).toThrow('documentId must be')
  expect(() => document.liveState(bad)).toThrow('liveStateDataId must be')
  expect(() => document.editor(bad)).toThrow('editorId must be')
  expect(() => document.editor('note', { contentKey: bad })).toThrow('contentKey must be')
})

describe('[K5] a live state', () => {
  test('[K5] is there at once, and durable when the server says so', async () => {
    const { document } = await openDocument()
    opened(5, [state('player', { position: 1, playing: true })])
    const player = document.liveState<{ position: number; playing?: boolean }>('player')
    const heard: unknown[] = []
    player.subscribe((value) => heard.push(value))
    const set = player.set({ position: 2 }, { merge: true })
    expect(player.value).toEqual({ position: 2, playing: true })
    const [request] = fakes.server.socket.sent('setLiveState')
    expect(request).toMatchObject({ liveStateDataId: 'player', data: { position: 2 }, merge: true })
    fakes.server.socket.say({ type: 'done', id: request?.id ?? 0, position: at(7) })
    await set
    // Somebody else's change before ours, which is told later, must not hide ours.
    fakes.server.socket.say({
      type: 'liveState',
      ref: 1,
      position: at(6),
      states: [state('player', { position: 0, playing: false })],
    })
    expect(player.value).toEqual({ position: 2, playing: false })
    fakes.server.socket.say({
      type: 'liveState',
      ref: 1,
      position: at(8),
      states: [state('player', { position: 3, playing: false })],
    })
    expect(player.value).toEqual({ position: 3, playing: false })
    expect(heard).toEqual([
      { position: 2, playing: true },
      { position: 2, playing: false },
      { position: 3, playing: false },
    ])
  })

  test('[K5.2] set while offline is sent once it is open: the latest wins, merges are combined', async () => {
    const { document } = await openDocument()
    const replaced = document.liveState('a')
    const merged = document.liveState('b')
    const sets = [
      replaced.set({ n: 1, old: true }),
      replaced.set({ n: 2 }),
      merged.set({ x: 1 }, { merge: true }),
      merged.set({ y: 2 }, { merge: true }),
      merged.set({ x: 3 }, { merge: true }),
    ]
    expect(fakes.server.socket.sent('setLiveState')).toEqual([])
    opened(5, [state('b', { z: 0 })])
    const requests = fakes.server.socket.sent('setLiveState')
    expect(requests.map(({ data, merge }) => [data, merge])).toEqual([
      [{ n: 2 }, undefined],
      [{ x: 3, y: 2 }, true],
    ])
    expect(valuesOf(document, 'a', 'b')).toEqual([{ n: 2 }, { z: 0, x: 3, y: 2 }])
    for (const { id } of requests) fakes.server.socket.say({ type: 'done', id, position: at(6) })
    await Promise.all(sets)
  })

  test('[K5.2] has one change on its way; what follows meanwhile becomes one', async () => {
    const { document } = await openDocument()
    opened(5)
    const player = document.liveState('player')
    const sets = [1, 2, 3].map((position) => player.set({ position }))
    expect(fakes.server.socket.sent('setLiveState').map(({ data }) => data)).toEqual([{ position: 1 }])
    fakes.server.socket.say({ type: 'done', id: 1, position: at(6) })
    await sets[0]
    expect(fakes.server.socket.sent('setLiveState').map(({ data }) => data)).toEqual([
      { position: 1 },
      { position: 3 },
    ])
    expect(player.value).toEqual({ position: 3 })
  })

  test('[K5.2] that was on its way when the connection broke is sent again', async () => {
    const { document } = await openDocument()
    opened(5)
    const player = document.liveState('player')
    const first = player.set({ position: 1, speed: 1 })
    fakes.server.socket.drop()
    const second = player.set({ position: 2 }, { merge: true })
    await untilNextSocket()
    fakes.server.socket.welcome()
    const third = player.set({ position: 3 }, { merge: true })
    expect(fakes.server.socket.sent('setLiveState')).toEqual([])
    opened(5, [], { reset: false })
    const requests = () => fakes.server.socket.sent('setLiveState')
    expect(requests()).toMatchObject([{ id: 2, data: { position: 1, speed: 1 } }])
    expect(player.value).toEqual({ position: 3, speed: 1 })
    fakes.server.socket.say({ type: 'done', id: 2, position: at(6) })
    await first
    expect(requests()).toMatchObject([{ id: 2 }, { id: 3, data: { position: 3 }, merge: true }])
    fakes.server.socket.say({ type: 'done', id: 3, position: at(7) })
    await Promise.all([second, third])
  })

  test('[K5.2] that was on its way and replaced meanwhile is not sent again', async () => {
    const { document } = await openDocument()
    opened(5)
    const player = document.liveState('player')
    const sets = [player.set({ position: 1 }), player.set({ position: 2 })]
    await reconnected()
    opened(5, [], { reset: false })
    expect(fakes.server.socket.sent('setLiveState')).toMatchObject([{ id: 2, data: { position: 2 } }])
    fakes.server.socket.say({ type: 'done', id: 2, position: at(6) })
    await Promise.all(sets)
  })

  test('[K5.1] takes no more keys than a message can hold, also when merges are combined', async () => {
    const { document } = await openDocument()
    const player = document.liveState('player')
    const half = (name: string) =>
      Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`${name}${key}`, 1]))
    const first = player.set(half('a'), { merge: true })
    await expect(player.set(half('b'), { merge: true })).rejects.toThrow('9990 keys')
    opened(5)
    fakes.server.socket.say({ type: 'done', id: 1, position: at(6) })
    await first
  })

  test('[K5] that is refused is what it was before, and is told of', async () => {
    const { connection, document } = await openDocument()
    opened(5, [state('player', { position: 1 })])
    const errors: ApiError[] = []
    document.on('error', (error) => errors.push(error))
    connection.on('error', (error) => errors.push(error))
    const player = document.liveState('player')
    const set = player.set({ position: 2 })
    fakes.server.socket.say({ type: 'error', id: 1, ref: 1, status: 'PERMISSION_DENIED', message: 'No.' })
    await expect(set).rejects.toMatchObject({ status: 'PERMISSION_DENIED', message: 'No.' })
    expect(player.value).toEqual({ position: 1 })
    expect(errors.map(({ message }) => message)).toEqual(['No.', 'No.'])
  })

  const circle: Record<string, unknown> = {}
  circle.self = circle
  const deep = JSON.parse('{"a":'.repeat(61) + '1' + '}'.repeat(61))
  const wide = Object.fromEntries(Array.from({ length: 9_991 }, (_, key) => [key, 1]))
  test.each([
    ['too large', { text: 'ä'.repeat(524_288) }, 'Live state must not be larger than 1 MiB.'],
    ['too deep', deep, 'data must not be nested deeper than 60 levels.'],
    ['too wide', { in: [wide] }, 'data must not have more than 9990 keys.'],
    [
      'too long',
      { in: Array(49_989).fill('') },
      'data must not have more than 49990 strings, arrays and objects.',
    ],
    ['poisonous', JSON.parse('{"a":[{"__proto__":1}]}'), '__proto__ is not allowed as a key.'],
    ['an array', [1], 'data must be an object.'],
    ['a function', () => 1, 'data must be an object.'],
    ['no JSON', circle, 'circular'],
  ])(
    '[K5.1] that is %s is refused before it is sent, for it would end the connection',
    async (_, data, message) => {
      const { document } = await openDocument()
      opened(5)
      const player = document.liveState('player')
      await expect(player.set(data)).rejects.toThrow(message)
      expect(fakes.server.socket.sent('setLiveState')).toEqual([])
      expect(player.value).toBeUndefined()
      expect(() => document.presence.set({ data })).toThrow()
      expect(fakes.server.socket.sent('setPresence')).toEqual([])
    },
  )

  test('[K5] that the server could not store is sent again after a pause', async () => {
    const { document } = await openDocument()
    opened(5)
    const player = document.liveState('player')
    const sets = [player.set({ n: 1 })]
    fakes.server.socket.say({ type: 'error', id: 1, status: 'UNAVAILABLE', message: 'Disk full.' })
    sets.push(player.set({ n: 2 }))
    expect(player.value).toEqual({ n: 2 })
    expect(fakes.server.socket.sent('setLiveState')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(100)
    expect(fakes.server.socket.sent('setLiveState').at(-1)).toMatchObject({ id: 2, data: { n: 2 } })
    fakes.server.socket.say({ type: 'done', id: 2, position: at(6) })
    await Promise.all(sets)
  })

  test('[K5] that still waits when the document is closed is rejected', async () => {
    const { document } = await openDocument()
    const set = document.liveState('player').set({ position: 1 })
    document.close()
    await expect(set).rejects.toMatchObject({ status: 'ABORTED' })
    await expect(document.liveState('player').set({})).rejects.toMatchObject({ status: 'ABORTED' })
  })
})
