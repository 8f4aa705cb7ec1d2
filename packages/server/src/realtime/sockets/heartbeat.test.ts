import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { SteppedClock } from '../../../test/support/clock.ts'
import { Connection } from './connection.ts'
import { binaryFrame, pingFrame } from './frames.ts'
import { Heartbeat, sweepMs } from './heartbeat.ts'

const keepAliveFrame = binaryFrame(Uint8Array.of(1))

/** A watched connection that records what is written and its termination, with the seconds since the start. */
function scene() {
  const clock = new SteppedClock()
  const events: string[] = []
  const record = (event: string) => void events.push(`${event} ${clock.elapsed() / 1_000}`)
  const ws = Object.assign(new EventEmitter(), {
    pause() {},
    resume() {},
    terminate() {
      record('terminate')
      ws.emit('close')
    },
  })
  const handle = { writeQueueSize: 0 }
  const socket = Object.assign(new EventEmitter(), {
    writable: true,
    writableLength: 0,
    bytesWritten: 0,
    _handle: handle,
    write(bytes: Buffer) {
      if (bytes.equals(pingFrame)) record('ping')
      else if (bytes.equals(Buffer.concat([keepAliveFrame, pingFrame]))) record('keepAlive and ping')
      else record(`unexpected ${bytes.toString('hex')}`)
    },
  })
  const connection = new Connection('c1', ws as unknown as WebSocket, socket as unknown as Socket, { clock })
  const heartbeat = new Heartbeat()
  heartbeat.watch(connection, { keepAlive: () => connection.sendLater(keepAliveFrame) })
  connection.onClosed = () => heartbeat.unwatch(connection)
  connection.inbox.start(() => {})
  clock.setInterval(() => heartbeat.sweep(), sweepMs)
  return { clock, events, connection, socket, handle, ws }
}

test('[R12.4] a silent connection gets a ping and a keep-alive message every 20 s, and is terminated after 30 s', () => {
  const { clock, events } = scene()
  clock.step(60_000)
  expect(events).toEqual(['keepAlive and ping 20', 'terminate 30'])
})

test('[R12.4] the pings of connections that were opened together are spread evenly over 20 s', () => {
  const heartbeat = new Heartbeat()
  const counts: number[] = []
  for (let opened = 0; opened < 120; opened++) {
    const { connection } = scene()
    connection.ping = () => void (counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1)
    heartbeat.watch(connection, { keepAlive() {} })
  }
  for (let sweep = 0; sweep < 40; sweep++) {
    counts.push(0)
    heartbeat.sweep()
  }
  expect(counts).toEqual(Array(40).fill(3))
})

test('[R12.4] a client that answers pings, or sends a message, stays connected', () => {
  const { clock, events, ws } = scene()
  for (let seconds = 0; seconds < 60; seconds += 15) {
    clock.step(15_000)
    ws.emit('pong')
  }
  clock.step(30_000)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
  ws.emit('message', Buffer.from('x'), true)
  clock.step(30_000)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
  clock.step(2_500)
  expect(events.at(-1)).toBe('terminate 122.5')
})

test('[R14.1] a client that is still receiving a large document is not terminated for missing pongs', () => {
  const { clock, events, socket, handle } = scene()
  socket.writableLength = 1_000_000
  for (let seconds = 0; seconds < 60; seconds++) {
    handle.writeQueueSize = 1_000_000 - seconds
    clock.step(1_000)
  }
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
})

test('[R18] the server does not terminate a silent client whose socket it does not read', () => {
  const { clock, events, connection } = scene()
  connection.hold()
  expect(connection.inbox.isPaused).toBe(true)
  clock.step(60_000)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
})
