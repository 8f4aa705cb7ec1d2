import { expect, test } from 'vitest'
import { createMessageBus } from './message-bus.ts'

const create = () => {
  const errors: [unknown, string][] = []
  const bus = createMessageBus<string>((error, message) => errors.push([error, message]))
  return { bus, errors }
}

test('[R20] every listener has run when publish returns, in the order of subscribing', () => {
  const { bus } = create()
  const received: [string, string][] = []
  bus.subscribe((message) => received.push(['first', message]))
  const unsubscribe = bus.subscribe((message) => received.push(['second', message]))
  bus.publish('one')
  unsubscribe()
  bus.publish('two')
  expect(received).toEqual([
    ['first', 'one'],
    ['second', 'one'],
    ['first', 'two'],
  ])
})

test('[R20] a listener that throws is reported, and the others receive the message', () => {
  const { bus, errors } = create()
  const received: string[] = []
  const error = new Error('This listener is broken.')
  bus.subscribe(() => {
    throw error
  })
  bus.subscribe((message) => received.push(message))
  bus.publish('one')
  expect(received).toEqual(['one'])
  expect(errors).toEqual([[error, 'one']])
})

test('[R20] a listener may subscribe twice, and unsubscribe while it receives a message', () => {
  const { bus } = create()
  let received = 0
  const listener = () => {
    received++
    unsubscribe()
  }
  const unsubscribe = bus.subscribe(listener)
  bus.subscribe(listener)
  bus.publish('one')
  bus.publish('two')
  expect(received).toBe(3)
})
