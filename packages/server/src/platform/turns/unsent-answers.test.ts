import { expect, test } from 'vitest'
import { UnsentAnswers } from './unsent-answers.ts'

function scene() {
  const answers = new UnsentAnswers({ maxBytesPerKey: 300, maxBytes: 700 })
  const cut: string[] = []
  const add = (name: string, body = new Uint8Array(100), { isHeld = false, canCut = true } = {}) => {
    const [apiKey = '', userId = ''] = name.split(' ')
    return answers.add({
      apiKey,
      userId,
      body,
      isHeld: () => isHeld,
      ...(canCut && { cut: () => cut.push(name) }),
    })
  }
  return { answers, add, cut }
}

test('[R14.3] a body with several readers counts once, and a body that a room holds does not count', () => {
  const { answers, add, cut } = scene()
  const body = new Uint8Array(300)
  for (let reader = 0; reader < 5; reader++) {
    add(`k u${reader}`, body)
    add(`k u${reader}`, new Uint8Array(1_000), { isHeld: true })
  }
  answers.cutExcess()
  expect(cut).toEqual([])
  expect(answers.hasSpaceFor('k', 1)).toBe(false)
  expect(answers.hasSpaceFor('other', 300)).toBe(true)
})

test('[R14.4] an API key above its limit loses the oldest reader of the user with the most answers', () => {
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

test('[R14.4] above the limit of the server, the API key with the most bytes loses readers', () => {
  const { answers, add, cut } = scene()
  for (const name of ['a u', 'a u', 'b u', 'b u', 'b v', 'c u', 'c u']) add(name)
  answers.cutExcess()
  expect(cut).toEqual([])
  add('d u')
  answers.cutExcess()
  expect(cut).toEqual(['b u'])
})

test('[R14.4] an answer that cannot be cut counts, and the next API key above its limit still loses a reader', () => {
  const { answers, add, cut } = scene()
  add('a u', new Uint8Array(340), { canCut: false })
  for (const name of ['b u', 'b v']) add(name, new Uint8Array(160))
  answers.cutExcess()
  expect(cut).toEqual(['b u'])
  expect(answers.hasSpaceFor('a', 1)).toBe(false)
})

test('[R14.3] an answer does not count after it was removed', () => {
  const { answers, add } = scene()
  const remove = add('k ada', new Uint8Array(300))
  expect(answers.hasSpaceFor('k', 100)).toBe(false)
  expect(answers.isEmpty('k')).toBe(false)
  remove()
  expect(answers.hasSpaceFor('k', 100)).toBe(true)
  expect(answers.isEmpty('k')).toBe(true)
})
