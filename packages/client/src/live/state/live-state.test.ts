import { expect, test, vi } from 'vitest'
import { at, state, useDocumentScene, valuesOf } from '../../../test/support/document-scene.ts'
import { collectErrors } from '../../../test/support/fakes.ts'

const { fakes, acceptDocument, openDocument, reconnect } = useDocumentScene()

const circular: Record<string, unknown> = {}
circular.self = circular
const tooDeep = JSON.parse('{"a":'.repeat(61) + '1' + '}'.repeat(61))
const tooManyKeys = Object.fromEntries(Array.from({ length: 9_991 }, (_, key) => [key, 1]))

test('[K5] a live state shows a local change at once, and set resolves when the change is durable', async () => {
  const { document } = await openDocument()
  acceptDocument(5, [state('player', { position: 1, playing: true })])
  const player = document.liveState<{ position: number; playing?: boolean }>('player')
  const values: unknown[] = []
  player.subscribe((value) => values.push(value))
  const set = player.set({ position: 2 }, { merge: true })
  expect(player.value).toEqual({ position: 2, playing: true })
  const [request] = fakes.server.socket.sent('setLiveState')
  expect(request).toMatchObject({ liveStateDataId: 'player', data: { position: 2 }, merge: true })
  fakes.server.socket.deliver({ type: 'done', id: request?.id ?? 0, position: at(7) })
  await set
  // An earlier change of another user arrives later. It must not hide the local change.
  fakes.server.socket.deliver({
    type: 'liveState',
    ref: 1,
    position: at(6),
    states: [state('player', { position: 0, playing: false })],
  })
  expect(player.value).toEqual({ position: 2, playing: false })
  fakes.server.socket.deliver({
    type: 'liveState',
    ref: 1,
    position: at(8),
    states: [state('player', { position: 3, playing: false })],
  })
  expect(player.value).toEqual({ position: 3, playing: false })
  expect(values).toEqual([
    { position: 2, playing: true },
    { position: 2, playing: false },
    { position: 3, playing: false },
  ])
})

test('[K5.2] changes made before the document opens are sent when it opens: the latest set wins, merges are combined', async () => {
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
  acceptDocument(5, [state('b', { z: 0 })])
  const requests = fakes.server.socket.sent('setLiveState')
  expect(requests.map(({ data, merge }) => [data, merge])).toEqual([
    [{ n: 2 }, undefined],
    [{ x: 3, y: 2 }, true],
  ])
  expect(valuesOf(document, 'a', 'b')).toEqual([{ n: 2 }, { z: 0, x: 3, y: 2 }])
  for (const { id } of requests) fakes.server.socket.deliver({ type: 'done', id, position: at(6) })
  await Promise.all(sets)
})

test('[K5.2] a live state has one change in flight, and the changes after it become one', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const player = document.liveState('player')
  const sets = [1, 2, 3].map((position) => player.set({ position }))
  expect(fakes.server.socket.sent('setLiveState').map(({ data }) => data)).toEqual([{ position: 1 }])
  fakes.server.socket.deliver({ type: 'done', id: 1, position: at(6) })
  await sets[0]
  expect(fakes.server.socket.sent('setLiveState').map(({ data }) => data)).toEqual([
    { position: 1 },
    { position: 3 },
  ])
  expect(player.value).toEqual({ position: 3 })
})

test('[K5.2] a change that was in flight when the connection was lost is sent again', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const player = document.liveState('player')
  const first = player.set({ position: 1, speed: 1 })
  fakes.server.socket.disconnect()
  const second = player.set({ position: 2 }, { merge: true })
  await fakes.untilNextSocket()
  fakes.server.socket.authenticate()
  const third = player.set({ position: 3 }, { merge: true })
  expect(fakes.server.socket.sent('setLiveState')).toEqual([])
  acceptDocument(5, [], { reset: false })
  const requests = () => fakes.server.socket.sent('setLiveState')
  expect(requests()).toMatchObject([{ id: 2, data: { position: 1, speed: 1 } }])
  expect(player.value).toEqual({ position: 3, speed: 1 })
  fakes.server.socket.deliver({ type: 'done', id: 2, position: at(6) })
  await first
  expect(requests()).toMatchObject([{ id: 2 }, { id: 3, data: { position: 3 }, merge: true }])
  fakes.server.socket.deliver({ type: 'done', id: 3, position: at(7) })
  await Promise.all([second, third])
})

test('[K5.2] a change that was in flight when the connection was lost is not sent again if a later change replaces it', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const player = document.liveState('player')
  const sets = [player.set({ position: 1 }), player.set({ position: 2 })]
  await reconnect()
  acceptDocument(5, [], { reset: false })
  expect(fakes.server.socket.sent('setLiveState')).toMatchObject([{ id: 2, data: { position: 2 } }])
  fakes.server.socket.deliver({ type: 'done', id: 2, position: at(6) })
  await Promise.all(sets)
})

test('[K5.1] a merge is rejected if it has too many keys together with the merge that waits before it', async () => {
  const { document } = await openDocument()
  const player = document.liveState('player')
  const half = (name: string) =>
    Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`${name}${key}`, 1]))
  const first = player.set(half('a'), { merge: true })
  await expect(player.set(half('b'), { merge: true })).rejects.toThrow('9990 keys')
  acceptDocument(5)
  fakes.server.socket.deliver({ type: 'done', id: 1, position: at(6) })
  await first
})

test('[K5] a refused change of a live state is undone, its set rejects, and an error event reports it', async () => {
  const { connection, document } = await openDocument()
  acceptDocument(5, [state('player', { position: 1 })])
  const errors = [document, connection].map(collectErrors)
  const player = document.liveState('player')
  const set = player.set({ position: 2 })
  fakes.server.socket.deliver({ type: 'error', id: 1, ref: 1, status: 'PERMISSION_DENIED', message: 'No.' })
  await expect(set).rejects.toMatchObject({ status: 'PERMISSION_DENIED', message: 'No.' })
  expect(player.value).toEqual({ position: 1 })
  expect(errors).toMatchObject([[{ message: 'No.' }], [{ message: 'No.' }]])
})

test.each([
  ['more than 1 MiB', { text: 'ä'.repeat(524_288) }, 'Live state must not be larger than 1 MiB.'],
  ['too many levels', tooDeep, 'data must not be nested deeper than 60 levels.'],
  ['too many keys', { in: [tooManyKeys] }, 'data must not have more than 9990 keys.'],
  [
    'too many values',
    { in: Array(49_989).fill('') },
    'data must not have more than 49990 strings, arrays and objects.',
  ],
  ['a key __proto__', JSON.parse('{"a":[{"__proto__":1}]}'), '__proto__ is not allowed as a key.'],
  ['an array', [1], 'data must be an object.'],
  ['a function', () => 1, 'data must be an object.'],
  ['a circular reference', circular, 'circular'],
])('[K5.1] live state and presence data is refused before it is sent: %s', async (_, data, message) => {
  const { document } = await openDocument()
  acceptDocument(5)
  const player = document.liveState('player')
  await expect(player.set(data)).rejects.toThrow(message)
  expect(fakes.server.socket.sent('setLiveState')).toEqual([])
  expect(player.value).toBeUndefined()
  expect(() => document.presence.set({ data })).toThrow()
  expect(fakes.server.socket.sent('setPresence')).toEqual([])
})

test('[K5] a live state sends its latest value after a delay if the server could not store a change', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const player = document.liveState('player')
  const sets = [player.set({ n: 1 })]
  fakes.server.socket.deliver({ type: 'error', id: 1, status: 'UNAVAILABLE', message: 'Disk full.' })
  sets.push(player.set({ n: 2 }))
  expect(player.value).toEqual({ n: 2 })
  expect(fakes.server.socket.sent('setLiveState')).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(100)
  expect(fakes.server.socket.sent('setLiveState').at(-1)).toMatchObject({ id: 2, data: { n: 2 } })
  fakes.server.socket.deliver({ type: 'done', id: 2, position: at(6) })
  await Promise.all(sets)
})

test('[K5] set of a live state rejects when the document is closed before the change is durable', async () => {
  const { document } = await openDocument()
  const set = document.liveState('player').set({ position: 1 })
  document.close()
  await expect(set).rejects.toMatchObject({ status: 'ABORTED' })
  await expect(document.liveState('player').set({})).rejects.toMatchObject({ status: 'ABORTED' })
})
