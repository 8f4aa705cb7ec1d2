import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { collectErrors, settle, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect, untilNextSocket, warnings } = fakes

/** Makes the global events of a page those of this target. */
function fakePage(): EventTarget {
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  return page
}

test('[K21] [K3.2] while the token callback fails, everything on the connection says so, and a retry calls it at once', async () => {
  let isBroken = true
  let calls = 0
  const token = async () => {
    calls++
    if (isBroken) throw new Error('The token endpoint returned 500.')
    return jwt('good')
  }
  const connection = fakes.server.connect({ token })
  fakes.closeAfterTest(connection)
  const states: unknown[] = []
  connection.subscribe(() => states.push([connection.state.status, connection.state.reason?.message]))
  const document = connection.document('org_1', 'doc_1')
  const editor = document.editor('note')
  const { threads } = document
  const inbox = connection.inbox('org_1')
  for (const list of [threads, inbox]) list.subscribe(() => {})
  expect(connection).toMatchObject({ status: 'connecting', reason: undefined })
  await vi.advanceTimersByTimeAsync(60_000)
  const message = 'The token callback failed: The token endpoint returned 500.'
  for (const it of [connection, document, editor])
    expect(it).toMatchObject({ status: 'connecting', reason: { message } })
  for (const list of [threads, inbox]) expect(list).toMatchObject({ isLoading: false, error: { message } })
  // Every attempt fails for the same reason.
  expect(states).toEqual([['connecting', message]])

  isBroken = false
  const before = calls
  editor.retry()
  await settle()
  expect(calls).toBe(before + 1)
  expect(connection.reason).toMatchObject({ message })
  fakes.server.socket.authenticate()
  expect(connection).toMatchObject({ status: 'connected', reason: undefined })
  expect(states).toEqual([
    ['connecting', message],
    ['connected', undefined],
  ])
  const ref = fakes.server.socket.sent('open')[0]?.ref ?? 0
  const position = { epoch: 'e', seq: 1 }
  fakes.server.socket.deliver({ type: 'opened', ref, accessRole: 'editor', position, reset: true })
  for (const it of [document, editor]) expect(it.reason).toBeUndefined()
  for (const list of [threads, inbox]) expect(list).toMatchObject({ isLoading: true, error: undefined })
})

test('[K21] a connection says why it is lost, and why it is denied', async () => {
  const connection = await connect({ token: 'secret' })
  expect(connection).toMatchObject({ status: 'denied', reason: { status: 'UNAUTHENTICATED' } })
  const other = await connect()
  fakes.server.socket.authenticate()
  fakes.server.socket.disconnect(closeCodes.restarting, 'The server restarts.')
  expect(other).toMatchObject({ status: 'reconnecting', reason: { status: 'UNAVAILABLE' } })
  expect(other.reason?.message).toContain('The server restarts.')
  await untilNextSocket()
  fakes.server.socket.disconnect()
  expect(other.reason?.message).toContain('Could not connect')
  other.close()
  expect(other).toMatchObject({ status: 'closed', reason: undefined })
})

test('[K2.4] when the browser says that it is offline, the connection is reconnecting at once, and connects when the network is back', async () => {
  const page = fakePage()
  const connection = await connect()
  const errors = collectErrors(connection)
  fakes.server.socket.authenticate()
  page.dispatchEvent(new Event('offline'))
  const reason = { message: 'This device is offline. The client reconnects when the network is back.' }
  expect(connection).toMatchObject({ status: 'reconnecting', reason })
  expect(fakes.server.socket.readyState).toBe(3)
  for (let attempt = 0; attempt < 5; attempt++) {
    await untilNextSocket()
    fakes.server.socket.disconnect()
    expect(connection.reason).toMatchObject(reason)
  }
  // The server is not to blame.
  expect([warnings(), errors]).toEqual([[], []])
  page.dispatchEvent(new Event('online'))
  await settle()
  fakes.server.socket.authenticate()
  expect(connection).toMatchObject({ status: 'connected', reason: undefined })
})

test('[K2.4] a browser that is wrong about its network connects again', async () => {
  const page = fakePage()
  const connection = await connect()
  fakes.server.socket.authenticate()
  page.dispatchEvent(new Event('offline'))
  await untilNextSocket()
  fakes.server.socket.authenticate()
  expect(connection.status).toBe('connected')
  fakes.server.socket.disconnect()
  expect(connection.reason?.message).toContain('was lost')
})
