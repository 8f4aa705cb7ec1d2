import { expect, test, vi } from 'vitest'
import type { ThreadChanges } from '@plenum/protocol/realtime'
import { settle, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()

/** A thread with one comment, as the feed sends it. */
const thread = (annotationId: string, lastUpdated = 1) => ({
  annotationId,
  annotationNumber: 1,
  lastUpdated,
  comments: [{ commentId: lastUpdated }],
})
/** A full page. */
const page = (name: string) =>
  Array.from({ length: 50 }, (_, index) => ({ ...thread(`${name}${index}`), unread: false }))
const none: ThreadChanges = { reset: false, changed: [], removed: [], large: [], unread: [], viewed: [] }

async function openThreads() {
  const connection = await fakes.connect()
  const document = connection.document('org_1', 'doc_1')
  const { threads } = document
  threads.subscribe(() => {})
  fakes.server.socket.authenticate()
  await openDocument({ reset: true })
  const shown = () => threads.threads.map(({ annotationId, unread }) => [annotationId, unread])
  return { connection, document, threads, shown }
}

/** The server opens the document. */
async function openDocument(changes: Partial<ThreadChanges>): Promise<void> {
  const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
  const opened = { type: 'opened', ref, accessRole: 'editor', position: { epoch: 'e', seq: 1 } } as const
  fakes.server.socket.deliver({ ...opened, reset: false, threads: { ...none, ...changes } })
  await settle()
}

async function feed(changes: Partial<ThreadChanges>): Promise<void> {
  const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
  fakes.server.socket.deliver({ type: 'threads', ref, ...none, ...changes })
  await settle()
}

const calls = () => fakes.server.socket.sent('call')
const lastCall = () => calls().at(-1)

/** The server answers the last call. */
async function answer(data: unknown, nextPageToken?: string): Promise<void> {
  await settle()
  const result = { status: 'success', message: 'Done.', data, ...(nextPageToken && { nextPageToken }) }
  fakes.server.socket.deliver({ type: 'done', id: lastCall()?.id ?? 0, result })
  await settle()
}

async function refuse(status = 'UNAVAILABLE'): Promise<void> {
  await settle()
  fakes.server.socket.deliver({ type: 'error', id: lastCall()?.id ?? 0, status, message: 'Not now.' })
  await settle()
}

test('[K17.6] threads that could not be loaded are loaded again after a delay, and the error stays until then', async () => {
  const { threads, shown } = await openThreads()
  for (const count of [1, 2, 3]) {
    expect(calls()).toHaveLength(count)
    await refuse()
    expect(threads).toMatchObject({ isLoading: false, error: { status: 'UNAVAILABLE' } })
    await vi.advanceTimersByTimeAsync(100 * 2 ** count)
  }
  await answer([{ ...thread('a'), unread: true }])
  expect(shown()).toEqual([['a', true]])
  expect(threads).toMatchObject({ isLoading: false, error: undefined })
})

test('[K17.6] threads that the server refuses are not asked for again until the document opens again', async () => {
  const { threads, shown } = await openThreads()
  await refuse('PERMISSION_DENIED')
  await vi.advanceTimersByTimeAsync(14_000)
  expect(calls()).toHaveLength(1)
  expect(threads.error).toMatchObject({ status: 'PERMISSION_DENIED' })
  fakes.server.socket.disconnect()
  await fakes.untilNextSocket()
  fakes.server.socket.authenticate()
  await openDocument({})
  await answer([{ ...thread('a'), unread: false }])
  expect(shown()).toEqual([['a', false]])
  expect(threads.error).toBeUndefined()
})

test('[K17.6] loadMore resolves when the older threads are loaded, also after failures', async () => {
  const { threads, shown } = await openThreads()
  await answer(page('b'), 'next')
  let isDone = false
  const loading = threads.loadMore().then(() => (isDone = true))
  await refuse()
  expect([threads.error?.status, isDone, threads.hasMore]).toEqual(['UNAVAILABLE', false, true])
  await vi.advanceTimersByTimeAsync(100)
  expect(lastCall()?.input).toMatchObject({ pageToken: 'next' })
  await answer([{ ...thread('a', 0), unread: true }])
  await loading
  expect(shown()).toHaveLength(51)
  expect(shown().at(-1)).toEqual(['a', true])
  expect(threads).toMatchObject({ hasMore: false, error: undefined })
})

test('[K17.6] after a reset, as many pages are loaded again as were shown', async () => {
  const { threads, shown } = await openThreads()
  await answer(page('b'), 'next')
  const loading = threads.loadMore()
  await answer(page('a'), 'last')
  await loading
  const ids = () => [...new Set(shown().map(([id]) => String(id).charAt(0)))].sort()
  await feed({ reset: true })
  await answer(page('c'), 'next')
  expect(ids()).toEqual(['a', 'b'])
  await answer(page('b'), 'last')
  expect(ids()).toEqual(['b', 'c'])
  expect(shown()).toHaveLength(100)
})

test('[R54.5] what the feed says while threads are loaded is newer than what is loaded', async () => {
  const { shown } = await openThreads()
  await feed({
    changed: [thread('changed', 9)],
    unread: ['changed'],
    removed: ['removed'],
    viewed: ['viewed'],
  })
  const loaded = ['changed', 'removed', 'viewed'].map((id) => ({ ...thread(id), unread: id === 'viewed' }))
  await answer(loaded)
  expect(shown()).toEqual([
    ['changed', true],
    ['viewed', false],
  ])
})

test('[R54.4] a large thread that changes again while it is loaded is loaded again', async () => {
  const { shown } = await openThreads()
  await answer([])
  await feed({ large: ['a'] })
  expect(lastCall()?.input).toMatchObject({ annotationIds: ['a'] })
  await feed({ large: ['a'] })
  await answer([{ ...thread('a'), unread: true }])
  expect(calls()).toHaveLength(3)
  await answer([null])
  expect(shown()).toEqual([])
})

test('[R54.5] a thread that gets a comment while it is marked as viewed stays unread', async () => {
  const { threads, shown } = await openThreads()
  await answer([{ ...thread('a'), unread: true }])
  const marking = threads.markViewed('a')
  await settle()
  await feed({ changed: [thread('a', 2)], unread: ['a'] })
  await answer({ a: { success: true } })
  await marking
  expect(shown()).toEqual([['a', true]])
  await feed({ viewed: ['a'] })
  expect(shown()).toEqual([['a', false]])
})

test('[K17.6] after a reconnect, only the threads that are unread are loaded again', async () => {
  const { shown } = await openThreads()
  await answer([
    { ...thread('a', 2), unread: true },
    { ...thread('b', 1), unread: false },
  ])
  fakes.server.socket.disconnect()
  await fakes.untilNextSocket()
  fakes.server.socket.authenticate()
  await openDocument({})
  expect(lastCall()?.input).toEqual({ organizationId: 'org_1', documentId: 'doc_1', annotationIds: ['a'] })
  await answer([{ ...thread('a', 2), unread: false }])
  expect(shown()).toEqual([
    ['a', false],
    ['b', false],
  ])
})
