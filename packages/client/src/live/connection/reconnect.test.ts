import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { settle, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

test('[K2.1] a lost connection is retried after a random delay whose bound doubles up to 30 s', async () => {
  await connect()
  const delays: number[] = []
  for (let attempt = 0; attempt < 10; attempt++) {
    fakes.server.socket.disconnect()
    delays.push(await untilNextSocket())
  }
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000])
  vi.mocked(Math.random).mockReturnValue(0)
  fakes.server.socket.disconnect()
  expect(await untilNextSocket()).toBe(0)
})

test('[K2.1] a connection that lasted 10 s is retried soon, and a connection that is cut again and again is retried later', async () => {
  await connect()
  for (let attempt = 0; attempt < 5; attempt++) {
    fakes.server.socket.authenticate()
    fakes.server.socket.disconnect(closeCodes.unavailable)
    await untilNextSocket()
  }
  fakes.server.socket.authenticate()
  fakes.server.socket.disconnect(closeCodes.slow)
  expect(await untilNextSocket()).toBe(3200)
  fakes.server.socket.authenticate()
  await vi.advanceTimersByTimeAsync(10_000)
  fakes.server.socket.disconnect(closeCodes.restarting)
  const delays: number[] = []
  for (let attempt = 0; attempt < 5; attempt++) {
    delays.push(await untilNextSocket())
    fakes.server.socket.disconnect()
  }
  expect(delays).toEqual([100, 200, 400, 800, 1600])
})

test('[K2.2] a connection that the server moves reconnects after the delay in the message', async () => {
  const connection = await connect()
  fakes.server.socket.authenticate()
  fakes.server.socket.deliver({ type: 'moved', retryAfterMs: 4000 })
  await vi.advanceTimersByTimeAsync(1000)
  expect(connection.status).toBe('connected')
  fakes.server.socket.disconnect(closeCodes.restarting)
  expect(connection.status).toBe('reconnecting')
  expect(await untilNextSocket()).toBe(3000)
  fakes.server.socket.authenticate()
  fakes.server.socket.deliver({ type: 'moved', retryAfterMs: 4000 })
  expect(await untilNextSocket()).toBe(4000)
  expect(connection.status).toBe('reconnecting')
  expect(fakes.server.sockets[1]?.readyState).toBe(3)
})

test('[K2.1] a connection that is silent for 30 s is replaced, and its late messages are ignored', async () => {
  const connection = await connect()
  fakes.server.socket.authenticate()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(fakes.server.socket.sent('ping')).toHaveLength(1)
  fakes.server.socket.deliver({ type: 'pong' })
  await vi.advanceTimersByTimeAsync(15_000)
  expect(fakes.server.socket.sent('ping')).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(14_999)
  expect(connection.status).toBe('connected')
  await vi.advanceTimersByTimeAsync(1)
  expect(connection.status).toBe('reconnecting')
  await untilNextSocket()
  fakes.server.sockets[0]?.deliver({ type: 'ready', connectionId: 'c', userId: 'late', expiresAt: 1 })
  fakes.server.sockets[0]?.disconnect(closeCodes.permissionDenied)
  expect(connection.userId).toBe('ada')
  expect(connection.status).toBe('reconnecting')
})

test('[K2.1] a connection that receives anything at all stays open', async () => {
  const connection = await connect()
  fakes.server.socket.authenticate()
  for (let second = 0; second < 120; second += 10) {
    fakes.server.socket.deliverFrame(9, 'saved', 1)
    await vi.advanceTimersByTimeAsync(10_000)
  }
  expect(connection.status).toBe('connected')
})

test('[K2.1] a socket is replaced if the server has not accepted the token within 10 s', async () => {
  await connect()
  fakes.server.socket.accept()
  expect(await untilNextSocket()).toBe(10_100)
  expect(await untilNextSocket()).toBe(10_200)
})

test.each(['no JSON', '[]', 'null', '{"type":1}'])(
  '[K2.1] a connection is replaced if the server sends %s',
  async (data) => {
    const connection = await connect()
    fakes.server.socket.authenticate()
    fakes.server.socket.deliver(data)
    expect(connection.status).toBe('reconnecting')
  },
)

test('[K2.1] a connection is probed when the page becomes visible, and replaced after 5 s without an answer', async () => {
  const page = Object.assign(new EventTarget(), { hidden: true })
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  const connection = await connect({ idle: false })
  fakes.server.socket.authenticate()
  page.dispatchEvent(new Event('visibilitychange'))
  expect(fakes.server.socket.sent('ping')).toHaveLength(0)
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  expect(fakes.server.socket.sent('ping')).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(4999)
  expect(connection.status).toBe('connected')
  await vi.advanceTimersByTimeAsync(1)
  expect(connection.status).toBe('reconnecting')
})

test('[K2.2] a lost connection is retried at once, and an open connection is probed, when the network is back', async () => {
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  vi.mocked(Math.random).mockReturnValue(1)
  const connection = await connect()
  for (let attempt = 0; attempt < 8; attempt++) {
    fakes.server.socket.disconnect()
    await untilNextSocket()
  }
  fakes.server.socket.disconnect()
  page.dispatchEvent(new Event('online'))
  await settle()
  expect(fakes.server.sockets).toHaveLength(10)
  fakes.server.socket.authenticate()
  page.dispatchEvent(new Event('online'))
  expect(fakes.server.socket.sent('ping')).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(5000)
  expect(connection.status).toBe('reconnecting')
  connection.close()
  page.dispatchEvent(new Event('online'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(fakes.server.sockets).toHaveLength(10)
})
