import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { ClientSocket } from './client-socket.ts'
import { Connection } from './connection.ts'
import { binaryFrame, pingFrame } from './frames.ts'
import { Heartbeat, sweepMs } from './heartbeat.ts'

const pingFrames = Buffer.concat([binaryFrame(Uint8Array.of(1)), pingFrame])

/** A watched connection that records what is written and its termination, with the seconds since the start. */
function scene() {
  const clock = new SteppedClock()
  const events: string[] = []
  const record = (event: string) => void events.push(`${event} ${clock.elapsed() / 1_000}`)
  const ws = {
    pause() {},
    resume() {},
    terminate() {
      record('terminate')
      connection.onSocketClosed(1006)
    },
  }
  const handle = { writeQueueSize: 0 }
  const socket = Object.assign(new EventEmitter(), {
    writable: true,
    writableLength: 0,
    bytesWritten: 0,
    _handle: handle,
    write(bytes: Buffer) {
      if (bytes.equals(pingFrame)) record('ping')
      else if (bytes.equals(pingFrames)) record('keepAlive and ping')
      else record(`unexpected ${bytes.toString('hex')}`)
    },
  })
  const connection = new Connection('c1', ws as unknown as ClientSocket, socket as unknown as Socket, {
    clock,
  })
  const heartbeat = new Heartbeat()
  const client = { connection, slot: -1, pingFrames }
  heartbeat.watch(client)
  connection.listener = {
    onAlive: () => heartbeat.markAlive(client),
    onBytesWait: () => heartbeat.onBytesWait(client),
    onConnectionClosed: () => heartbeat.unwatch(client),
  }
  connection.start({ receive: () => true, deny() {} })
  clock.setInterval(() => heartbeat.sweep(), sweepMs)
  return { clock, events, connection, socket, handle }
}

test('[R12.4] a silent connection gets a ping and a keep-alive message every 20 s, and is terminated after 28 s', () => {
  const { clock, events } = scene()
  clock.step(60_000)
  expect(events).toEqual(['keepAlive and ping 20', 'terminate 28'])
})

test('[R12.4] the pings of connections that were opened together are spread evenly over 20 s', () => {
  const heartbeat = new Heartbeat()
  const counts: number[] = []
  for (let opened = 0; opened < 120; opened++) {
    const { connection } = scene()
    connection.ping = () => void (counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1)
    heartbeat.watch({ connection, slot: -1, pingFrames })
  }
  for (let sweep = 0; sweep < 40; sweep++) {
    counts.push(0)
    heartbeat.sweep()
  }
  expect(counts).toEqual(Array(40).fill(3))
})

test('[R12.4] a client that answers pings, or sends a message, stays connected', () => {
  const { clock, events, connection } = scene()
  for (let seconds = 0; seconds < 60; seconds += 15) {
    clock.step(15_000)
    connection.onPing()
  }
  clock.step(27_500)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
  connection.onMessage(Buffer.from('x'), true)
  clock.step(27_500)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
  clock.step(500)
  expect(events.at(-1)).toBe('terminate 115.5')
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

test('[R18] the time during which the server did not read a socket does not count as silence of the client', () => {
  const { clock, events, connection } = scene()
  connection.hold()
  clock.step(25_000)
  connection.release()
  clock.step(27_500)
  expect(events).not.toContainEqual(expect.stringContaining('terminate'))
})

test('[R12.4] more connections than the heartbeat had slots, and those in slots that became free, are pinged and terminated', () => {
  const heartbeat = new Heartbeat()
  const events: string[] = []
  const watch = (name: string) => {
    const { connection } = scene()
    connection.ping = () => void events.push(`ping ${name}`)
    connection.terminate = () => void events.push(`terminate ${name}`)
    const client = { connection, slot: -1, pingFrames }
    heartbeat.watch(client)
    return client
  }
  const clients = Array.from({ length: 1_025 }, (_, index) => watch(`first ${index}`))
  for (const client of clients.slice(0, 1_024)) heartbeat.unwatch(client)
  watch('second')
  for (let sweep = 0; sweep < 56; sweep++) heartbeat.sweep()
  expect(new Set(events)).toEqual(
    new Set(['ping first 1024', 'ping second', 'terminate first 1024', 'terminate second']),
  )
})
