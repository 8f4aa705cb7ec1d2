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
  const ws = Object.assign(new EventEmitter(), {
    close: (code: number) => closes.push(code),
    pause() {},
    resume() {},
    terminate() {},
  })
  const connection = new Connection('c1', ws as unknown as WebSocket, socket as unknown as Socket)
  Object.assign(socket, { resume() {} })
  return { connection, socket, closes, take: () => taken?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('[R14] one large frame is no reason to give a client up that had taken everything before', () => {
  const { connection, closes } = slowClient()
  connection.send(Buffer.alloc(mostQueued + 10))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(10))
  expect(closes).toEqual([4008])
})

test('[R14] what was asked for does not count, until it is taken', () => {
  const { connection, closes } = slowClient()
  connection.answer(Buffer.alloc(5 * mostQueued))
  connection.send(Buffer.alloc(mostQueued - 10))
  connection.send(Buffer.alloc(11))
  expect(closes).toEqual([])
  connection.send(Buffer.alloc(1))
  expect(closes).toEqual([4008])
})

test('[R14] large answers are made one after the other, each when the one before is taken', async () => {
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
