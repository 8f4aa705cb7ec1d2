import { expect, test } from 'vitest'
import type { VersionInfo } from '@plenum/protocol/realtime'
import { settle } from '../../../test/support/fakes.ts'
import { useVersionScene, version } from '../../../test/support/version-scene.ts'
import { VersionList } from './version-list.ts'

const { fakes, channel, lastSent, acceptEditor, openVersions, reconnect } = useVersionScene()

async function openList() {
  const { versions } = await openVersions()
  const list = new VersionList(versions)
  return { list, ids: () => list.state.versions.map(({ versionId }) => versionId) }
}

/** The server answers the last request for a page. */
async function answerList(versions: VersionInfo[], nextPageToken?: string): Promise<void> {
  const id = lastSent('listVersions')?.id ?? 0
  fakes.server.socket.deliver({ type: 'done', id, versions, nextPageToken })
  await settle()
}

const deliverAdded = (added: VersionInfo) =>
  fakes.server.socket.deliver({ type: 'versionAdded', channel: channel(), version: added })

test('[K15.3] the version list loads all pages, and contains a version that is added meanwhile once', async () => {
  const { list, ids } = await openList()
  list.subscribe(() => {})
  expect(list.state).toEqual({ versions: [], isLoading: true, error: undefined })
  acceptEditor()
  await settle()
  await answerList([version('v3', 3), version('v2', 2)], 't')
  expect(lastSent('listVersions')).toMatchObject({ pageToken: 't' })
  deliverAdded(version('v4', 4))
  deliverAdded(version('v3', 3))
  await answerList([version('v1', 1)])
  expect(ids()).toEqual(['v4', 'v3', 'v2', 'v1'])
  expect(list.state.isLoading).toBe(false)
})

test('[K15.3] the version list stays the same object until it changes, and loads again after a reconnect', async () => {
  const { list, ids } = await openList()
  let changes = 0
  const unsubscribe = list.subscribe(() => changes++)
  acceptEditor()
  await settle()
  await answerList([version('v1', 1)])
  const { state } = list
  fakes.server.socket.deliver({ type: 'versionRestored', channel: 1, version: version('v1', 1) })
  expect(list.state).toBe(state)
  deliverAdded(version('v2', 2))
  expect(ids()).toEqual(['v2', 'v1'])
  expect(changes).toBe(2)
  await reconnect()
  await answerList([version('v3', 3), version('v2', 2), version('v1', 1)])
  expect(ids()).toEqual(['v3', 'v2', 'v1'])
  unsubscribe()
  deliverAdded(version('v4', 4))
  expect(ids()).toEqual(['v3', 'v2', 'v1'])
})

test('[K15.3] the version list has the error of a failed request until a request succeeds', async () => {
  const { list, ids } = await openList()
  list.subscribe(() => {})
  acceptEditor()
  await settle()
  const { socket } = fakes.server
  const refusal = { channel: 1, status: 'UNAVAILABLE', message: 'Not now.' }
  socket.deliver({ type: 'error', id: lastSent('listVersions')?.id ?? 0, ...refusal })
  await settle()
  expect(list.state).toMatchObject({ isLoading: false, error: { status: 'UNAVAILABLE' } })
  socket.deliver({ type: 'versionsChanged', channel: 1 })
  await settle()
  await answerList([version('v1', 1)])
  expect(list.state).toMatchObject({ isLoading: false, error: undefined })
  expect(ids()).toEqual(['v1'])
})
