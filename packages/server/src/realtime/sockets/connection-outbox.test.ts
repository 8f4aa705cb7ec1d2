import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { freeIteration } from '../../../test/support/measures/event-loop.ts'
import * as ws from 'ws'
import { ConnectionOutbox, fragmentBytes } from './connection-outbox.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import { binaryFrame, binaryMessage, pingFrame } from './frames.ts'
import { LateFrames, maxDelayMs } from './late-frames.ts'

beforeEach(freeIteration)

// Exported by `ws`, but not typed.
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable }

/** A client that reads one write of the server when the test calls `take`, and decodes it with `ws`. */
function client() {
  const taken: Uint8Array[] = []
  let done: (() => void) | undefined
  const socket = new Writable({
    write(chunk: Uint8Array, _encoding, callback) {
      taken.push(chunk)
      done = callback
    },
  })
  const messages: Buffer[] = []
  const receiver = new Receiver({ isServer: false })
  receiver.on('message', (data: Buffer) => messages.push(data))
  const host = { scheduler: new Scheduler(), owner: { apiKey: 'key', userId: 'ada' }, onBytesWait() {} }
  const clock = new SteppedClock()
  const outbox = new ConnectionOutbox(socket as unknown as Socket, host, new LateFrames(clock))
  /** Reads one write. Resolves with false if there is none. */
  const take = async (): Promise<boolean> => {
    await setImmediate()
    if (!done) return false
    const callback = done
    done = undefined
    callback()
    for (const chunk of taken.splice(0)) receiver.write(chunk)
    await setImmediate()
    return true
  }
  return { outbox, socket, clock, take, messages, receiver }
}

const bytesOf = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + seed) % 251)

test('[R14.2] a large answer is sent in fragments, at most two at a time, and later frames follow it', async () => {
  const { outbox, socket, take, messages } = client()
  const head = bytesOf(10, 1)
  const body = bytesOf(5 * fragmentBytes + 1234, 2)
  let isSent = false
  outbox.answer(binaryMessage(head, body), () => (isSent = true))
  outbox.send(binaryFrame(Uint8Array.of(7)))
  await setImmediate()
  expect(socket.writableLength).toBeLessThan(2 * fragmentBytes)
  expect(outbox.unsentBytes).toBeGreaterThan(5 * fragmentBytes)
  expect(outbox.waitingBytes).toBe(3)
  while (!isSent) expect(await take()).toBe(true)
  while (await take());
  expect(messages).toHaveLength(2)
  expect(messages[0]?.equals(Buffer.concat([head, body]))).toBe(true)
  expect(messages[1]).toEqual(Buffer.of(7))
  expect(outbox.unsentBytes).toBe(0)
  expect(socket.listenerCount('drain')).toBe(0)
})

test('[R14.2] an answer arrives unchanged when a ping comes between its fragments', async () => {
  const { outbox, take, messages, receiver } = client()
  const pings: Buffer[] = []
  receiver.on('ping', (data: Buffer) => pings.push(data))
  const body = bytesOf(4 * fragmentBytes, 3)
  outbox.answer(binaryMessage(body))
  await setImmediate()
  await take()
  outbox.ping(Buffer.concat([binaryFrame(Uint8Array.of(7)), pingFrame]))
  while (await take());
  expect(pings).toHaveLength(1)
  expect(messages[0]?.equals(body)).toBe(true)
})

test('[R14.2] a closed outbox drops its unsent answers and calls their callbacks', async () => {
  const { outbox, socket, take } = client()
  let done = 0
  outbox.answer(binaryMessage(bytesOf(4 * fragmentBytes, 4)), () => done++)
  outbox.answer(binaryMessage(bytesOf(4 * fragmentBytes, 5)), () => done++)
  const drained = outbox.whenUnsentAtMost(0)
  await take()
  outbox.close()
  await drained
  expect(done).toBe(2)
  outbox.answer(binaryMessage(bytesOf(4 * fragmentBytes, 6)), () => done++)
  expect(done).toBe(3)
  expect(socket.listenerCount('drain')).toBe(0)
  expect(socket.listenerCount('close')).toBe(0)
})

test.each([0, 1, 125, 126, fragmentBytes, fragmentBytes + 1, 3 * fragmentBytes, 3 * fragmentBytes + 1])(
  '[R14.2] an answer of %i bytes in several parts arrives unchanged',
  async (length) => {
    const { outbox, take, messages } = client()
    const body = bytesOf(length, 8)
    const middle = Math.floor(length / 3)
    outbox.answer(binaryMessage(body.subarray(0, middle), new Uint8Array(), body.subarray(middle)))
    while (await take());
    expect(messages[0]?.equals(body)).toBe(true)
  },
)

const frame = (byte: number) => binaryFrame(Uint8Array.of(byte))

test('[R1.2] a late frame is sent before the next frame, in the same write', async () => {
  const { outbox, take, messages, clock } = client()
  outbox.sendLater(frame(1))
  outbox.sendLater(frame(2))
  expect(await take()).toBe(false)
  outbox.send(frame(3))
  expect(await take()).toBe(true)
  while (messages.length < 3) await setImmediate()
  expect(messages.map(([byte]) => byte)).toEqual([1, 2, 3])
  clock.step(maxDelayMs)
  expect(await take()).toBe(false)
})

test('[R1.2] a late frame is sent after the longest delay if no other frame follows', async () => {
  const { outbox, take, messages, clock } = client()
  outbox.sendLater(frame(1))
  clock.step(maxDelayMs - 1)
  expect(await take()).toBe(false)
  clock.step(1)
  expect(await take()).toBe(true)
  expect(messages.map(([byte]) => byte)).toEqual([1])
  outbox.sendLater(frame(2))
  clock.step(maxDelayMs)
  expect(await take()).toBe(true)
  expect(messages.map(([byte]) => byte)).toEqual([1, 2])
})

test('[R1.2] a late frame is sent before a large answer, and one that comes later follows the answer', async () => {
  const { outbox, take, messages } = client()
  outbox.sendLater(frame(1))
  outbox.answer(binaryMessage(bytesOf(3 * fragmentBytes, 2)))
  outbox.sendLater(frame(3))
  while (await take());
  while (messages.length < 3) await setImmediate()
  expect(messages.map(({ length }) => length)).toEqual([1, 3 * fragmentBytes, 1])
})

test('[R15] late frames are sent when the outbox is closed, and none after that', async () => {
  const { outbox, take, messages, clock } = client()
  outbox.sendLater(frame(1))
  outbox.close()
  expect(await take()).toBe(true)
  expect(messages).toHaveLength(1)
  outbox.sendLater(frame(2))
  clock.step(maxDelayMs)
  expect(await take()).toBe(false)
  expect(clock.pending).toBe(0)
})

test('[R14.1] many late frames are sent without a delay', async () => {
  const { outbox, take } = client()
  for (let count = 0; count < 3; count++) outbox.sendLater(binaryFrame(bytesOf(2_000, count)))
  expect(await take()).toBe(true)
})
