import { expect, test } from 'vitest'
import { AnswersInFlight } from './answers-in-flight.ts'

function scene() {
  const answers = new AnswersInFlight({ maxKeyBytes: 300, maxServerBytes: 700 })
  const cut: string[] = []
  const add = (name: string, body = new Uint8Array(100), isHeld = false) => {
    const [apiKey = '', userId = ''] = name.split(' ')
    return answers.add({ apiKey, userId, body, isHeld: () => isHeld, cut: () => cut.push(name) })
  }
  return { answers, add, cut }
}

test('[R14.3] bytes that several readers take count once, and those that a room holds do not count', () => {
  const { answers, add, cut } = scene()
  const body = new Uint8Array(300)
  for (let reader = 0; reader < 5; reader++) {
    add(`k u${reader}`, body)
    add(`k u${reader}`, new Uint8Array(1_000), true)
  }
  answers.cutExcess()
  expect(cut).toEqual([])
  expect(answers.hasRoomFor('k', 1)).toBe(false)
  expect(answers.hasRoomFor('other', 300)).toBe(true)
})

test('[R14.4] beyond its limit a key loses the oldest reader of the user who has most', () => {
  const { answers, add, cut } = scene()
  add('k ada')
  add('k bob 1')
  add('k bob 2')
  answers.cutExcess()
  expect(cut).toEqual([])
  add('k eve')
  answers.cutExcess()
  expect(cut).toEqual(['k bob 1'])
})

test('[R14.4] beyond the limit of the server the key with most loses readers', () => {
  const { answers, add, cut } = scene()
  for (const name of ['a u', 'a u', 'b u', 'b u', 'b v', 'c u', 'c u']) add(name)
  answers.cutExcess()
  expect(cut).toEqual([])
  add('d u')
  answers.cutExcess()
  expect(cut).toEqual(['b u'])
})

test('[R14.3] a reader that has all of it does not count any more', () => {
  const { answers, add } = scene()
  const done = add('k ada', new Uint8Array(300))
  expect(answers.hasRoomFor('k', 100)).toBe(false)
  done()
  expect(answers.hasRoomFor('k', 100)).toBe(true)
})
