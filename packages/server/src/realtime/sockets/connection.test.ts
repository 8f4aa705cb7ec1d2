import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { ClientSocket } from './client-socket.ts'
import { Connection, maxWaitingBytes } from './connection.ts'

/** A client that reads the bytes that wait for it when the test calls `take`. */
function slowClient() {
  let taken: (() => void) | undefined
  const socket = new Writable({ write: (_chunk, _encoding, done) => void (taken = done) })
  const closes: number[] = []
  const reasons: string[] = []
  const state = { isPaused: false, isTerminated: false }
  const ws = {
    close(code: number, reason: string) {
      closes.push(code)
      reasons.push(reason)
    },
    pause: () => void (state.isPaused = true),
    resume: () => void (state.isPaused = false),
    terminate: () => void (state.isTerminated = true),
  }
  const clock = new SteppedClock()
  const connection = new Connection('c1', ws as unknown as ClientSocket, socket as unknown as Socket, {
    clock,
  })
  Object.assign(socket, { resume() {} })
  return { connection, clock, socket, closes, reasons, state, take: () => taken?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('[R14.1] one frame above the limit does not close a client for which nothing else waits', () => {
  const { connection, closes } = slowClient()
  connection.send(Buffer.alloc(maxWaitingBytes + 10))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(10))
  expect(closes).toEqual([4008])
})

test('[R14.1] requested answers do not count towards the bytes that may wait for a client', () => {
  const { connection, closes } = slowClient()
  connection.answer(Buffer.alloc(5 * maxWaitingBytes))
  connection.send(Buffer.alloc(maxWaitingBytes - 10))
  connection.send(Buffer.alloc(11))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(1))
  expect(closes).toEqual([4008])
})

test('[R14] `answerInTurn` does not wait for a socket that is destroyed already', async () => {
  const { connection, socket } = slowClient()
  connection.answer(Buffer.alloc(maxWaitingBytes))
  socket.destroy()
  await settled()
  await connection.answerInTurn(async () => connection.answer(Buffer.alloc(10)))
  expect(connection.isOpen).toBe(true)
})

test('[R14.2] a large answer is built only after the client has read the answer before it', async () => {
  const { connection, socket, take } = slowClient()
  const built: number[] = []
  for (const number of [1, 2, 3]) {
    void connection.answerInTurn(async () => {
      built.push(number)
      connection.answer(Buffer.alloc(maxWaitingBytes))
    })
  }
  await settled()
  expect(built).toEqual([1])
  take()
  await settled()
  expect(built).toEqual([1, 2])
  connection.close('slow', 'gone')
  socket.destroy()
  await settled()
  expect(built).toEqual([1, 2])
  expect(socket.listenerCount('drain')).toBe(0)
})

test('[R14] `answerInTurn` runs the next answer after an answer that fails', async () => {
  const { connection } = slowClient()
  const failed = connection.answerInTurn(() => Promise.reject(new Error('unreadable')))
  const next = connection.answerInTurn(async () => {})
  await expect(failed).rejects.toThrow('unreadable')
  await next
})

test('[R14.1] a client that reads a large answer slowly stays open, and a client that reads nothing for 10 s is closed', () => {
  const { connection, clock, socket, closes } = slowClient()
  const handle = { writeQueueSize: 0 }
  Object.assign(socket, { _handle: handle, bytesWritten: 50_000_000 })
  connection.answer(Buffer.alloc(50_000_000))
  for (let second = 0; second < 60; second++) {
    handle.writeQueueSize = 50_000_000 - second * 100_000
    // The system buffers the first bytes, so they do not prove that the client is alive.
    expect(connection.checkProgress()).toBe(second > 0)
    clock.step(1_000)
  }
  expect(closes).toEqual([])
  clock.step(9_000)
  expect(connection.checkProgress()).toBe(false)
  expect(closes).toEqual([])
  clock.step(1)
  connection.checkProgress()
  expect(closes).toEqual([4008])
})

test.each(['a', 'é', '語', '😀'])(
  '[R48.5] a long reason of %s is shortened to fit into the close frame',
  (character) => {
    for (const before of ['', 'x', 'xx', 'xxx']) {
      const { connection, reasons } = slowClient()
      connection.close('badMessage', before + character.repeat(200))
      const [reason = ''] = reasons
      expect(reason).toMatch(new RegExp(`^${before}${character}{25}.*…$`, 'u'))
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
    }
  },
)

test('[R46.2] the server reads at most 64 KiB from a client whose close is delayed, and closes it at shutdown', () => {
  const { connection, clock, socket, closes, state } = slowClient()
  let isClosed = false
  connection.closeAfter(60_000, 'permissionDenied', 'No.', () => (isClosed = true))
  expect(connection).toMatchObject({ isOpen: false, acceptsMessages: false })
  socket.emit('data', Buffer.alloc(64 * 1024))
  expect(state.isPaused).toBe(false)
  socket.emit('data', Buffer.alloc(1))
  expect(state.isPaused).toBe(true)
  expect(closes).toEqual([])
  connection.close('restarting', 'The server is shutting down.')
  expect(closes).toEqual([1012])
  // The client's half of the closing handshake must be read.
  expect(state.isPaused).toBe(false)
  connection.onSocketClosed(1006)
  expect(isClosed).toBe(true)
  expect(clock.pending).toBe(0)
})

test('[R46.1] `closeAfter` closes the connection after its delay, with its reason', () => {
  const { connection, clock, closes, reasons } = slowClient()
  connection.closeAfter(4_000, 'permissionDenied', 'No.', () => {})
  clock.step(3_999)
  expect(closes).toEqual([])
  clock.step(1)
  expect(closes).toEqual([4403])
  expect(reasons).toEqual(['No.'])
})

test.each([
  ['badMessage', 2_000],
  ['slow', 5_000],
] as const)('[R14] a client closed with %s that does not answer is terminated after %i ms', (reason, ms) => {
  const { connection, clock, state } = slowClient()
  connection.close(reason, 'Closed.')
  clock.step(ms - 1)
  expect(state.isTerminated).toBe(false)
  clock.step(1)
  expect(state.isTerminated).toBe(true)
})

test('[R1.4] a closed connection accepts the messages that its client sent before, unless it was refused or closed for a final reason', () => {
  const closedBy = (reason: 'restarting' | 'permissionDenied') => {
    const { connection } = slowClient()
    connection.close(reason, 'Closed.')
    return connection.acceptsMessages
  }
  expect(closedBy('restarting')).toBe(true)
  expect(closedBy('permissionDenied')).toBe(false)
  const { connection } = slowClient()
  connection.closeAfter(1_000, 'rateLimited', 'Later.', () => {})
  connection.onSocketClosed(1006)
  expect(connection.acceptsMessages).toBe(false)
})
