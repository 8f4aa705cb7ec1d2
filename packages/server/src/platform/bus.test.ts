import { expect, test } from 'vitest'
import { type BusMessage, createMemoryBus } from './bus.ts'
import { createLog } from './log/log.ts'

const logged: string[] = []
const log = createLog('debug', { write: (line) => void logged.push(line) })
const message: BusMessage = { kind: 'access', apiKey: 'k1' }

test('[R20] everybody has heard when publishing returns, in the order of subscribing', () => {
  const bus = createMemoryBus(log)
  const heard: [string, BusMessage][] = []
  bus.subscribe((message) => heard.push(['first', message]))
  const end = bus.subscribe((message) => heard.push(['second', message]))
  bus.publish(message)
  end()
  bus.publish({ kind: 'credentials', apiKey: 'k2' })
  expect(heard).toEqual([
    ['first', message],
    ['second', message],
    ['first', { kind: 'credentials', apiKey: 'k2' }],
  ])
})

test('[R20] a listener that throws is logged and keeps the message from nobody', () => {
  const bus = createMemoryBus(log)
  const heard: BusMessage[] = []
  bus.subscribe(() => {
    throw new Error('This listener is broken.')
  })
  bus.subscribe((message) => heard.push(message))
  bus.publish(message)
  expect(heard).toEqual([message])
  expect(logged.join('')).toContain('This listener is broken.')
})

test('[R20] subscribing twice and ending in the middle of a message are fine', () => {
  const bus = createMemoryBus(log)
  let heard = 0
  const listener = () => {
    heard++
    end()
  }
  const end = bus.subscribe(listener)
  bus.subscribe(listener)
  bus.publish(message)
  bus.publish(message)
  expect(heard).toBe(3)
})
