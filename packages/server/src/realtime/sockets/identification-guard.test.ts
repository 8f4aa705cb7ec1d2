import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { guardIdentification } from './identification-guard.ts'

function scene() {
  const clock = new SteppedClock()
  const socket = new EventEmitter()
  const client = { isIdentified: false, isChecking: false }
  const events: string[] = []
  guardIdentification({
    socket: socket as unknown as Socket,
    client,
    clock,
    timeoutMs: 5_000,
    onTimeout: () => events.push('timeout'),
    onTooManyBytes: () => events.push('tooManyBytes'),
  })
  const send = (bytes: number) => socket.emit('data', Buffer.alloc(bytes))
  return { clock, socket, client, events, send }
}

test('[R16] an unidentified client is timed out after 5 s', () => {
  const { clock, events } = scene()
  clock.step(4_999)
  expect(events).toEqual([])
  clock.step(1)
  expect(events).toEqual(['timeout'])
  expect(clock.pending).toBe(0)
})

test('[R16.1] the time during which the server checks a token does not count towards the limit', () => {
  const { clock, client, events } = scene()
  client.isChecking = true
  clock.step(20_000)
  expect(events).toEqual([])
  client.isChecking = false
  clock.step(5_000)
  expect(events).toEqual(['timeout'])
})

test('[R16] an unidentified client may send 16 KiB and 1 KiB for the overhead of its frames', () => {
  const { send, socket, events, clock } = scene()
  send(17 * 1024)
  expect(events).toEqual([])
  send(1)
  expect(events).toEqual(['tooManyBytes'])
  expect(socket.listenerCount('data')).toBe(0)
  expect(clock.pending).toBe(0)
})

test('[R16.1] the bytes that arrive while the server checks a token do not count towards the limit', () => {
  const { send, client, events } = scene()
  client.isChecking = true
  send(100 * 1024)
  expect(events).toEqual([])
})

test('[R16] an identified client has no limit of time or bytes', () => {
  const { clock, send, client, events } = scene()
  client.isIdentified = true
  send(100 * 1024)
  clock.step(60_000)
  expect(events).toEqual([])
  expect(clock.pending).toBe(0)
})

test('[R16] a client that has disconnected reports no timeout', () => {
  const { clock, socket, events } = scene()
  socket.emit('close')
  clock.step(60_000)
  expect(events).toEqual([])
  expect(socket.eventNames()).toEqual([])
})
