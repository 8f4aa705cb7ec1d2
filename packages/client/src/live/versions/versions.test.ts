import { expect, test } from 'vitest'
import { collectErrors, settle } from '../../../test/support/fakes.ts'
import { useVersionScene, version } from '../../../test/support/version-scene.ts'
import type { ApiError, Versions } from '../../index.ts'

const { fakes, lastSent, acceptEditor, openVersions, reconnect, refuse, sentFrames } = useVersionScene()

/** Returns the value of a promise, or the status of its error. */
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    ({ status }: ApiError) => status,
  )

test('[K15] the calls of versions wait until the editor is connected, and resolve with the answer', async () => {
  const { versions } = await openVersions()
  const added = versions.add('Draft')
  const listed = versions.list({ pageSize: 2 })
  const restored = versions.restore('v1')
  await settle()
  expect(fakes.server.socket.messages).toEqual([])
  acceptEditor()
  const { socket } = fakes.server
  expect(lastSent('addVersion')).toEqual({ type: 'addVersion', channel: 1, id: 1, name: 'Draft' })
  expect(lastSent('listVersions')).toEqual({ type: 'listVersions', channel: 1, id: 2, pageSize: 2 })
  expect(lastSent('restoreVersion')).toEqual({ type: 'restoreVersion', channel: 1, id: 3, versionId: 'v1' })
  socket.deliver({ type: 'done', id: 3 })
  socket.deliver({ type: 'done', id: 2, versions: [version('v1', 1)], nextPageToken: 't' })
  socket.deliver({ type: 'done', id: 1, version: version('v2', 2) })
  expect(await added).toEqual(version('v2', 2))
  expect(await listed).toEqual({ versions: [version('v1', 1)], nextPageToken: 't' })
  expect(await restored).toBeUndefined()
})

test('[K15.2] versions.add rejects when the server refuses it, and the editor emits the error', async () => {
  const { editor, versions } = await openVersions()
  const errors = collectErrors(editor)
  acceptEditor()
  const added = versions.add('Draft')
  const answer = { id: 1, channel: 1, status: 'PERMISSION_DENIED', message: 'No.' }
  fakes.server.socket.deliver({ type: 'error', ...answer })
  await expect(added).rejects.toMatchObject({ status: 'PERMISSION_DENIED', message: 'No.' })
  expect(errors).toEqual([await added.catch((error: unknown) => error)])
})

test('[K15.2] versions.add rejects after a local change that was too large to be sent', async () => {
  const { editor, versions } = await openVersions()
  acceptEditor()
  await settle()
  editor.doc.getMap('values').set('large', 'x'.repeat(1024 * 1024))
  await settle()
  await expect(versions.add('Draft')).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' })
  expect(lastSent('addVersion')).toBeUndefined()
})

test('[K15.2] versions.add rejects if the server refuses local changes while the call waits for them', async () => {
  const { editor, versions } = await openVersions()
  const text = editor.doc.getText()
  text.insert(0, 'offline')
  acceptEditor()
  await settle()
  // The sync reply and 31 updates have no answer yet, so the last change waits. `add` waits for this change.
  for (let index = 0; index < 32; index++) {
    text.insert(0, 'x')
    await settle()
  }
  const added = outcomeOf(versions.add('Draft'))
  refuse(1)
  expect(lastSent('addVersion')).toBeUndefined()
  expect(await added).toBe('FAILED_PRECONDITION')
})

test('[K15.2] versions.add is sent after all changes that were made before the call', async () => {
  const { editor, versions } = await openVersions()
  acceptEditor()
  await settle()
  const { socket } = fakes.server
  socket.frames.length = 0
  const text = editor.doc.getText()
  for (let index = 0; index < 32; index++) {
    text.insert(0, 'x')
    await settle()
  }
  text.insert(0, 'last')
  const added = versions.add('Draft')
  // 32 updates have no answer yet, so the last change waits. `add` waits for this change.
  expect(lastSent('addVersion')).toBeUndefined()
  socket.deliverFrame(1, 'saved', sentFrames().at(-1)?.number ?? 0)
  expect(socket.frames).toHaveLength(33)
  expect(lastSent('addVersion')).toBeDefined()
  socket.deliver({ type: 'done', id: 1, version: version('v1', 1) })
  await added
})

test('[K15.1] versions.list is sent again after a lost connection, but versions.add and versions.restore reject, and listeners get changed', async () => {
  const { versions, events } = await openVersions()
  acceptEditor()
  const outcomes = [versions.add('Draft'), versions.restore('v1')].map(outcomeOf)
  const listed = versions.list()
  await reconnect()
  expect(await Promise.all(outcomes)).toEqual(['UNAVAILABLE', 'UNAVAILABLE'])
  const { socket } = fakes.server
  expect([lastSent('addVersion'), lastSent('restoreVersion')]).toEqual([undefined, undefined])
  socket.deliver({ type: 'done', id: lastSent('listVersions')?.id ?? 0, versions: [] })
  expect(await listed).toEqual({ versions: [] })
  expect(events).toEqual([{ type: 'changed' }])
})

test('[K15] the calls of versions reject after the editor was closed or denied', async () => {
  const { editor, versions } = await openVersions()
  const waiting = outcomeOf(versions.list())
  editor.close()
  expect(await waiting).toBe('ABORTED')
  expect(await outcomeOf(versions.add('Draft'))).toBe('ABORTED')
  const other = await openVersions()
  const denied = outcomeOf(other.versions.list())
  fakes.server.socket.accept()
  fakes.server.socket.disconnect(4403, 'No.')
  await settle()
  expect(await denied).toBe('PERMISSION_DENIED')
})

test.each<[string, (versions: Versions) => Promise<unknown>]>([
  ['an empty name', (versions) => versions.add('')],
  ['a blank name', (versions) => versions.add(' \n')],
  ['a long name', (versions) => versions.add('x'.repeat(201))],
  ['a name that is not a string', (versions) => versions.add(5 as unknown as string)],
  ['an empty id', (versions) => versions.restore('')],
  ['a page size of 0', (versions) => versions.list({ pageSize: 0 })],
  ['a page size of 101', (versions) => versions.list({ pageSize: 101 })],
  ['an empty page token', (versions) => versions.list({ pageToken: '' })],
])('[K15] a call of versions with %s is rejected before it is sent', async (_, call) => {
  const { versions } = await openVersions()
  acceptEditor()
  expect(await outcomeOf(call(versions))).toBe('INVALID_ARGUMENT')
  const sent = fakes.server.socket.messages.filter(({ type }) => /version/i.test(type))
  expect(sent).toEqual([])
})

test('[K15.3] listeners of versions get an event when a version is added or restored, and when the list changes in another way', async () => {
  const { events } = await openVersions()
  acceptEditor()
  const { socket } = fakes.server
  const first = version('v1', 1)
  socket.deliver({ type: 'versionAdded', channel: 1, version: first })
  socket.deliver({ type: 'versionRestored', channel: 1, version: first, restoredBy: { userId: 'bob' } })
  socket.deliver({ type: 'versionRestored', channel: 1, version: first })
  socket.deliver({ type: 'versionsChanged', channel: 1 })
  expect(events).toEqual([
    { type: 'added', version: first },
    { type: 'restored', version: first, restoredBy: { userId: 'bob' } },
    { type: 'restored', version: first },
    { type: 'changed' },
  ])
})
