import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Connection, mostQueued } from './connection.ts'

/** A client that takes what waits when it is told to. */
function slowClient() {
  let taken: (() => void) | undefined
  const socket = new Writable({ write: (_chunk, _encoding, done) => void (taken = done) })
  const closes: number[] = []
  const reasons: string[] = []
  const reading = { isPaused: false }
  const ws = Object.assign(new EventEmitter(), {
    close(code: number, reason: string) {
      closes.push(code)
      reasons.push(reason)
    },
    pause: () => void (reading.isPaused = true),
    resume: () => void (reading.isPaused = false),
    terminate() {},
  })
  const connection = new Connection('c1', ws as unknown as WebSocket, socket as unknown as Socket)
  Object.assign(socket, { resume() {} })
  return { connection, socket, ws, closes, reasons, reading, take: () => taken?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('[R14.1] one large frame is no reason to give a client up that had taken everything before', () => {
  const { connection, closes } = slowClient()
  connection.send(Buffer.alloc(mostQueued + 10))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(10))
  expect(closes).toEqual([4008])
})

test('[R14.1] what was asked for does not count, until it is taken', () => {
  const { connection, closes } = slowClient()
  connection.answer(Buffer.alloc(5 * mostQueued))
  connection.send(Buffer.alloc(mostQueued - 10))
  connection.send(Buffer.alloc(11))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(1))
  expect(closes).toEqual([4008])
})

test('[R14] nobody waits for a client to take something whose socket is closed already', async () => {
  const { connection, socket } = slowClient()
  connection.answer(Buffer.alloc(mostQueued))
  socket.destroy()
  await settled()
  await connection.inTurn(async () => connection.answer(Buffer.alloc(10)))
  expect(connection.isOpen).toBe(true)
})

test('[R14.2] large answers are made one after the other, each when the one before is taken', async () => {
  const { connection, socket, take } = slowClient()
  const made: number[] = []
  for (const number of [1, 2, 3]) {
    void connection.inTurn(async () => {
      made.push(number)
      connection.answer(Buffer.alloc(mostQueued))
    })
  }
  await settled()
  expect(made).toEqual([1])
  take()
  await settled()
  expect(made).toEqual([1, 2])
  connection.close('slow', 'gone')
  socket.destroy()
  await settled()
  expect(made).toEqual([1, 2])
  expect(socket.listenerCount('drain')).toBe(0)
})

test('[R14] an answer that fails keeps nobody waiting', async () => {
  const { connection } = slowClient()
  const failed = connection.inTurn(() => Promise.reject(new Error('unreadable')))
  const next = connection.inTurn(async () => {})
  await expect(failed).rejects.toThrow('unreadable')
  await next
})

test('[R14.1] who takes a large answer slowly is given time, who takes nothing for 10 s is not', () => {
  const { connection, socket, closes } = slowClient()
  const handle = { writeQueueSize: 0 }
  Object.assign(socket, { _handle: handle, bytesWritten: 50_000_000 })
  connection.answer(Buffer.alloc(50_000_000))
  for (let second = 0; second < 60; second++) {
    handle.writeQueueSize = 50_000_000 - second * 100_000
    // That the first of it goes into the buffers of the system says nothing.
    expect(connection.checkProgress(second * 1_000)).toBe(second > 0)
  }
  expect(closes).toEqual([])
  expect(connection.checkProgress(69_000)).toBe(false)
  expect(closes).toEqual([])
  connection.checkProgress(69_001)
  expect(closes).toEqual([4008])
})

test.each(['a', 'é', '語', '😀'])('[R48.5] a long reason of %s fits into the goodbye', (character) => {
  for (const before of ['', 'x', 'xx', 'xxx']) {
    const { connection, reasons } = slowClient()
    connection.close('badMessage', before + character.repeat(200))
    const [reason = ''] = reasons
    expect(reason).toMatch(new RegExp(`^${before}${character}{25}.*…$`, 'u'))
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
  }
})

test('[R46.2] of a client that is closed later, 64 KiB are read', () => {
  const { connection, socket, ws, closes, reading } = slowClient()
  let isClosed = false
  connection.closeAfter(60_000, 'permissionDenied', 'No.', () => (isClosed = true))
  expect(connection).toMatchObject({ isOpen: false, takesMessages: false })
  socket.emit('data', Buffer.alloc(64 * 1024))
  expect(reading.isPaused).toBe(false)
  socket.emit('data', Buffer.alloc(1))
  expect(reading.isPaused).toBe(true)
  expect(closes).toEqual([])
  connection.close('restarting', 'The server is shutting down.')
  expect(closes).toEqual([1012])
  // The client's half of the closing handshake must be read.
  expect(reading.isPaused).toBe(false)
  ws.emit('close')
  expect(isClosed).toBe(true)
})
