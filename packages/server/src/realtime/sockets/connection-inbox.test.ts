import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { ConnectionInbox } from './connection-inbox.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'

/** Lets time pass, which holds the event loop. */
let beBusy: (ms: number) => void
beforeEach(async () => {
  beBusy = await stopTime()
})

const kilobyte = Buffer.alloc(1_000)

/** A client whose socket records whether the server reads it, with its inbox. */
function client(scheduler = new Scheduler(), { isIdentified = true } = {}) {
  const state = { isRead: true }
  const socket = {
    pause: () => void (state.isRead = false),
    resume: () => void (state.isRead = true),
  }
  const delivered: string[] = []
  let work = (_text: string) => {}
  const host = {
    scheduler,
    owner: { apiKey: 'key', userId: 'ada' },
    isIdentified,
    onResumed() {},
    deliver(data: Buffer) {
      delivered.push(data.toString().replaceAll('\0', ''))
      work(data.toString())
    },
  }
  const inbox = new ConnectionInbox(socket, host)
  const start = (onDelivered = work) => {
    work = onDelivered
    inbox.start()
  }
  const send = (data: string | Buffer) => inbox.receive(Buffer.from(data), true)
  return { inbox, state, delivered, start, send }
}

test('[R18.1] an inbox reads its socket from `start` on, and delivers messages as they arrive', () => {
  const { state, start, send, delivered } = client()
  expect(state.isRead).toBe(false)
  start()
  expect(state.isRead).toBe(true)
  send('a')
  expect(delivered).toEqual(['a'])
})

test('[R18.1] a client on hold is read until 64 KiB are delivered and 64 KiB more wait, and its messages are delivered in order after the release', async () => {
  // With a scheduler that always has time, a slow machine delivers as much as a fast one.
  const scheduler = Object.defineProperty(new Scheduler(), 'hasTime', { value: true })
  const { inbox, state, start, send, delivered } = client(scheduler)
  start()
  inbox.hold()
  let sent = 0
  for (; state.isRead && sent < 1_000; sent++) send(Buffer.concat([Buffer.from(`${sent}`), kilobyte]))
  // 64 KiB are delivered for the dialect to queue, and 64 KiB wait in the inbox.
  expect(delivered.length).toBeGreaterThan(10)
  expect(sent).toBeLessThan(140)
  expect(delivered.length).toBeLessThan(sent / 2 + 2)
  inbox.release()
  while (inbox.hasWaiting) await setImmediate()
  expect(delivered).toEqual(Array.from({ length: sent }, (_, index) => `${index}`))
  expect(state.isRead).toBe(true)
})

test('[R18.1] empty messages count towards the bytes that may wait', () => {
  const { inbox, state, start, send } = client()
  start()
  inbox.hold()
  let sent = 0
  for (; state.isRead && sent < 10_000; sent++) send('')
  expect(sent).toBeLessThan(1_000)
})

test('[R16.1] an unidentified client is not read while it is on hold', () => {
  const { inbox, state, start } = client(new Scheduler(), { isIdentified: false })
  start()
  expect(state.isRead).toBe(true)
  inbox.hold()
  expect(state.isRead).toBe(false)
  inbox.release()
  expect(state.isRead).toBe(true)
})

test('[R1.4] `deliverRest` delivers the messages of a client on hold before it calls back', async () => {
  const { inbox, start, send, delivered } = client()
  start()
  inbox.hold()
  for (let sent = 0; sent < 100; sent++) send(kilobyte)
  expect(inbox.hasWaiting).toBe(true)
  const left = new Promise<number>((resolve) => inbox.deliverRest(() => resolve(delivered.length)))
  expect(await left).toBe(100)
})

test('[R18.1] a stopped inbox reads its socket, delivers earlier messages and ignores later ones', async () => {
  const { inbox, state, start, send, delivered } = client()
  start()
  inbox.hold()
  let sent = 0
  for (; state.isRead; sent++) send(kilobyte)
  inbox.stop()
  expect(state.isRead).toBe(true)
  send(kilobyte)
  inbox.release()
  while (inbox.hasWaiting) await setImmediate()
  expect(delivered.length).toBe(sent)
})

test('[S1] a socket with many messages yields to other sockets after a few milliseconds', async () => {
  const scheduler = new Scheduler()
  const order: string[] = []
  const busy = client(scheduler)
  const other = client(scheduler)
  busy.start((text) => {
    order.push(text)
    beBusy(3)
  })
  other.start((text) => order.push(text))
  for (let sent = 0; sent < 30; sent++) busy.send(`busy ${sent}`)
  other.send('other')
  while (busy.inbox.hasWaiting) await setImmediate()
  expect(order).toHaveLength(31)
  expect(order.indexOf('other')).toBeLessThan(8)
  expect(order.filter((text) => text !== 'other')).toEqual(
    Array.from({ length: 30 }, (_, index) => `busy ${index}`),
  )
})
