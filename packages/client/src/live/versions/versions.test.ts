import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import type { VersionInfo } from '@plenum/protocol/realtime'
import { readFrame } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'
import type { ApiError, VersionEvent } from '../../index.ts'
import { VersionList } from './version-list.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

const version = (versionId: string, createdAt: number): VersionInfo => ({
  versionId,
  name: `Name of ${versionId}`,
  type: 'text',
  createdAt,
})
const channelOf = () => fakes.server.socket.sent('openEditor').at(-1)?.channel ?? 0
const last = (type: 'listVersions' | 'addVersion' | 'restoreVersion') => fakes.server.socket.sent(type).at(-1)

/** The server lets the editor in and sends its content. */
function welcome(): void {
  const { socket } = fakes.server
  socket.welcome()
  const ref = socket.sent('open')[0]?.ref ?? 0
  socket.say({ type: 'opened', ref, accessRole: 'editor', position: { epoch: 'e', seq: 1 }, reset: true })
  socket.say({ type: 'editorOpened', channel: channelOf(), accessRole: 'editor' })
  socket.sayFrame(channelOf(), 'syncStep1', Y.encodeStateVector(new Y.Doc()))
  socket.sayFrame(channelOf(), 'syncStep2', Y.encodeStateAsUpdate(new Y.Doc()))
}

async function openEditor() {
  const connection = await connect()
  const editor = connection.document('org_1', 'doc_1').editor('note')
  const events: VersionEvent[] = []
  editor.versions.subscribe((event) => events.push(event))
  return { connection, editor, versions: editor.versions, events }
}

async function reconnect(): Promise<void> {
  fakes.server.socket.drop()
  await untilNextSocket()
  welcome()
  await settle()
}

const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    (value) => value,
    ({ status }: ApiError) => status,
  )

describe('[K15] versions of an editor', () => {
  test('[K15] calls wait until the editor is connected, and resolve with the answer', async () => {
    const { versions } = await openEditor()
    const added = versions.add('Draft')
    const listed = versions.list({ pageSize: 2 })
    const restored = versions.restore('v1')
    await settle()
    expect(fakes.server.socket.messages).toEqual([])
    welcome()
    const { socket } = fakes.server
    expect(last('addVersion')).toEqual({ type: 'addVersion', channel: 1, id: 1, name: 'Draft' })
    expect(last('listVersions')).toEqual({ type: 'listVersions', channel: 1, id: 2, pageSize: 2 })
    expect(last('restoreVersion')).toEqual({ type: 'restoreVersion', channel: 1, id: 3, versionId: 'v1' })
    socket.say({ type: 'done', id: 3 })
    socket.say({ type: 'done', id: 2, versions: [version('v1', 1)], nextPageToken: 't' })
    socket.say({ type: 'done', id: 1, version: version('v2', 2) })
    expect(await added).toEqual(version('v2', 2))
    expect(await listed).toEqual({ versions: [version('v1', 1)], nextPageToken: 't' })
    expect(await restored).toBeUndefined()
  })

  test('[K15.2] a refused call rejects, and is an error event of the editor', async () => {
    const { editor, versions } = await openEditor()
    const errors: ApiError[] = []
    editor.on('error', (error) => errors.push(error))
    welcome()
    const added = versions.add('Draft')
    const answer = { id: 1, channel: 1, status: 'PERMISSION_DENIED', message: 'No.' }
    fakes.server.socket.say({ type: 'error', ...answer })
    await expect(added).rejects.toMatchObject({ status: 'PERMISSION_DENIED', message: 'No.' })
    expect(errors).toEqual([await added.catch((error: unknown) => error)])
  })

  test('[K15.2] no version is added that would lack what was typed, because the server refused it', async () => {
    const { editor, versions } = await openEditor()
    welcome()
    await settle()
    editor.doc.getText().insert(0, 'x'.repeat(1024 * 1024))
    await settle()
    await expect(versions.add('Draft')).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' })
    expect(last('addVersion')).toBeUndefined()
  })

  test('[K15.2] what was typed before is sent before the version is', async () => {
    const { editor, versions } = await openEditor()
    welcome()
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
    // The server has not answered 32 updates, so the last one waits, and the version with it.
    expect(last('addVersion')).toBeUndefined()
    socket.sayFrame(1, 'saved', readFrame(socket.frames.at(-1) as Uint8Array).number as number)
    expect(socket.frames).toHaveLength(33)
    expect(last('addVersion')).toBeDefined()
    socket.say({ type: 'done', id: 1, version: version('v1', 1) })
    await added
  })

  test('[K15.1] after a lost connection lists are sent again, but nothing is added or restored twice', async () => {
    const { versions, events } = await openEditor()
    welcome()
    const outcomes = [versions.add('Draft'), versions.restore('v1')].map(outcomeOf)
    const listed = versions.list()
    await reconnect()
    expect(await Promise.all(outcomes)).toEqual(['UNAVAILABLE', 'UNAVAILABLE'])
    const { socket } = fakes.server
    expect([last('addVersion'), last('restoreVersion')]).toEqual([undefined, undefined])
    socket.say({ type: 'done', id: last('listVersions')?.id ?? 0, versions: [] })
    expect(await listed).toEqual({ versions: [] })
    expect(events).toEqual([{ type: 'changed' }])
  })

  test('[K15] calls of an editor that is closed or denied reject', async () => {
    const { editor, versions } = await openEditor()
    const waiting = outcomeOf(versions.list())
    editor.close()
    expect(await waiting).toBe('ABORTED')
    expect(await outcomeOf(versions.add('Draft'))).toBe('ABORTED')
    const other = await openEditor()
    const denied = outcomeOf(other.versions.list())
    fakes.server.socket.accept()
    fakes.server.socket.drop(4403, 'No.')
    await settle()
    expect(await denied).toBe('PERMISSION_DENIED')
  })

  test.each<[string, (versions: Awaited<ReturnType<typeof openEditor>>['versions']) => Promise<unknown>]>([
    ['an empty name', (versions) => versions.add('')],
    ['a blank name', (versions) => versions.add(' \n')],
    ['a long name', (versions) => versions.add('x'.repeat(201))],
    ['a name that is no string', (versions) => versions.add(5 as unknown as string)],
    ['an empty id', (versions) => versions.restore('')],
    ['a page of no versions', (versions) => versions.list({ pageSize: 0 })],
    ['a page of too many', (versions) => versions.list({ pageSize: 101 })],
    ['a page token that is empty', (versions) => versions.list({ pageToken: '' })],
  ])('[K15] %s is rejected before it is sent', async (_, call) => {
    const { versions } = await openEditor()
    welcome()
    expect(await outcomeOf(call(versions))).toBe('INVALID_ARGUMENT')
    const about = fakes.server.socket.messages.filter(({ type }) => /version/i.test(type))
    expect(about).toEqual([])
  })

  test('[K15.3] listeners hear what anybody adds and restores', async () => {
    const { events } = await openEditor()
    welcome()
    const { socket } = fakes.server
    const one = version('v1', 1)
    socket.say({ type: 'versionAdded', channel: 1, version: one })
    socket.say({ type: 'versionRestored', channel: 1, version: one, restoredBy: { userId: 'bob' } })
    socket.say({ type: 'versionRestored', channel: 1, version: one })
    socket.say({ type: 'versionsChanged', channel: 1 })
    expect(events).toEqual([
      { type: 'added', version: one },
      { type: 'restored', version: one, restoredBy: { userId: 'bob' } },
      { type: 'restored', version: one },
      { type: 'changed' },
    ])
  })
})

describe('[K15.3] the list of all versions', () => {
  async function openList() {
    const { versions } = await openEditor()
    const list = new VersionList(versions)
    const ids = () => list.state.versions.map(({ versionId }) => versionId)
    const answer = async (found: VersionInfo[], nextPageToken?: string) => {
      const id = last('listVersions')?.id ?? 0
      fakes.server.socket.say({ type: 'done', id, versions: found, nextPageToken })
      await settle()
    }
    const tell = (added: VersionInfo) =>
      fakes.server.socket.say({ type: 'versionAdded', channel: channelOf(), version: added })
    return { list, ids, answer, tell }
  }

  test('[K15.3] it is read page by page, and has what is added meanwhile once', async () => {
    const { list, ids, answer, tell } = await openList()
    list.subscribe(() => {})
    expect(list.state).toEqual({ versions: [], isLoading: true, error: undefined })
    welcome()
    await settle()
    await answer([version('v3', 3), version('v2', 2)], 't')
    expect(last('listVersions')).toMatchObject({ pageToken: 't' })
    tell(version('v4', 4))
    tell(version('v3', 3))
    await answer([version('v1', 1)])
    expect(ids()).toEqual(['v4', 'v3', 'v2', 'v1'])
    expect(list.state.isLoading).toBe(false)
  })

  test('[K15.3] it is the same object until something changes, and is read again after a reconnect', async () => {
    const { list, ids, answer, tell } = await openList()
    let changes = 0
    const unsubscribe = list.subscribe(() => changes++)
    welcome()
    await settle()
    await answer([version('v1', 1)])
    const { state } = list
    fakes.server.socket.say({ type: 'versionRestored', channel: 1, version: version('v1', 1) })
    expect(list.state).toBe(state)
    tell(version('v2', 2))
    expect(ids()).toEqual(['v2', 'v1'])
    expect(changes).toBe(2)
    await reconnect()
    await answer([version('v3', 3), version('v2', 2), version('v1', 1)])
    expect(ids()).toEqual(['v3', 'v2', 'v1'])
    unsubscribe()
    tell(version('v4', 4))
    expect(ids()).toEqual(['v3', 'v2', 'v1'])
  })

  test('[K15.3] it says why it cannot be read, and forgets that when it can', async () => {
    const { list, ids, answer } = await openList()
    list.subscribe(() => {})
    welcome()
    await settle()
    const { socket } = fakes.server
    const refusal = { channel: 1, status: 'UNAVAILABLE', message: 'Not now.' }
    socket.say({ type: 'error', id: last('listVersions')?.id ?? 0, ...refusal })
    await settle()
    expect(list.state).toMatchObject({ isLoading: false, error: { status: 'UNAVAILABLE' } })
    socket.say({ type: 'versionsChanged', channel: 1 })
    await settle()
    await answer([version('v1', 1)])
    expect(list.state).toMatchObject({ isLoading: false, error: undefined })
    expect(ids()).toEqual(['v1'])
  })
})
