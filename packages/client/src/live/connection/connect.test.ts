import { expect, test, vi } from 'vitest'
import { jwt } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'
import { createClient, type Status } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

test('[K2] a connection sends its token in the first message, and nothing else until the server is ready', async () => {
  const connection = await connect({ token: jwt('secret') })
  connection.document('org_1', 'doc_1')
  expect(fakes.server.socket.url).toBe('ws://plenum.test/base/realtime')
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('secret') }])
  expect(connection.status).toBe('connecting')
  fakes.server.socket.deliver({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt: 4_000_000_000 })
  expect(connection.status).toBe('connected')
  expect(connection.userId).toBe('ada')
  expect(fakes.server.socket.messages.map(({ type }) => type)).toEqual(['auth', 'open'])
})

test.each([
  ['https://plenum.test', 'wss://plenum.test/realtime'],
  ['http://plenum.test:4000/', 'ws://plenum.test:4000/realtime'],
  ['https://plenum.test/a/b', 'wss://plenum.test/a/b/realtime'],
])('[K2] a client of %s connects to %s', async (url, address) => {
  const connection = createClient({ url }).connect({ token: jwt('t'), WebSocket: fakes.server.WebSocket })
  fakes.closeAfterTest(connection)
  connection.document('org_1', 'doc_1')
  await settle()
  expect(fakes.server.socket.url).toBe(address)
})

test('[K2] a connection without a WebSocket class throws advice when it is used, not when it is created', () => {
  vi.stubGlobal('WebSocket', undefined)
  const connection = createClient({ url: 'http://plenum.test' }).connect({ token: jwt('t') })
  const hint = "Install the package ws and pass its class: import { WebSocket } from 'ws'"
  expect(() => connection.document('org_1', 'doc_1')).toThrow(hint)
  expect(() => connection.reconnect()).toThrow(hint)
  vi.stubGlobal('WebSocket', fakes.server.WebSocket)
  fakes.closeAfterTest(connection)
  expect(connection.document('org_1', 'doc_1').status).toBe('connecting')
})

test('[K2] a connection opens one socket with its first document, and has no timer or event listener before', async () => {
  const addEventListener = vi.fn()
  vi.stubGlobal('document', { hidden: false, addEventListener, removeEventListener() {} })
  vi.stubGlobal('addEventListener', addEventListener)
  vi.stubGlobal('removeEventListener', () => {})
  const connection = fakes.server.connect()
  fakes.closeAfterTest(connection)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(connection.status).toBe('connecting')
  expect(fakes.server.sockets).toEqual([])
  expect(addEventListener).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
  connection.document('org_1', 'doc_1')
  connection.document('org_1', 'doc_2')
  await settle()
  expect(fakes.server.sockets).toHaveLength(1)
  expect(addEventListener).toHaveBeenCalled()
})

test('[K2] [K2.3] a connection that is closed before it has a document opens no socket', async () => {
  const connection = fakes.server.connect()
  connection.close()
  connection.reconnect()
  await settle()
  expect(connection.status).toBe('closed')
  expect(fakes.server.sockets).toEqual([])
})

test('[K2] [K2.3] a connection reports its status, and stays closed after close', async () => {
  const connection = await connect()
  const statuses: Status[] = []
  connection.subscribe((status) => statuses.push(status))
  fakes.server.socket.authenticate()
  fakes.server.socket.disconnect()
  await untilNextSocket()
  fakes.server.socket.authenticate()
  connection.close()
  expect(statuses).toEqual(['connected', 'reconnecting', 'connected', 'closed'])
  expect(fakes.server.socket.readyState).toBe(3)
  connection.reconnect()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(fakes.server.sockets).toHaveLength(2)
  expect(() => connection.document('org_1', 'doc_1')).toThrow('The connection was closed.')
})

test('[K2] a connection fails if the WebSocket class refuses the address', async () => {
  function Forbidden() {
    throw new DOMException('insecure', 'SecurityError')
  }
  const connection = await connect({ WebSocket: Forbidden as never })
  expect(connection.status).toBe('failed')
  expect(connection.ended?.reason).toContain('insecure')
})

test('[K2] a listener that throws is reported as an uncaught error, and the other listeners are called', async () => {
  const connection = await connect()
  const statuses: Status[] = []
  connection.subscribe(() => {
    throw new Error('thrown by a listener')
  })
  const unsubscribe = connection.subscribe((status) => statuses.push(status))
  const queueMicrotask = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {})
  fakes.server.socket.authenticate()
  unsubscribe()
  connection.close()
  expect(statuses).toEqual(['connected'])
  expect(queueMicrotask.mock.calls[0]?.[0]).toThrow('thrown by a listener')
})
