import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Question } from './question.ts'
import { QuestionQueue } from './question-queue.ts'

const about = (userId: string): Question => ({
  userId,
  organizationId: 'o1',
  type: 'organization',
  id: 'o1',
  source: 'identify',
})

interface Call {
  apiKey: string
  userIds: string[]
  answer: () => void
  fail: (error: Error) => void
}

function scene() {
  const calls: Call[] = []
  const queue = new QuestionQueue<string>(
    (apiKey, questions) =>
      new Promise((resolve, fail) => {
        const userIds = questions.map(({ userId }) => userId)
        calls.push({ apiKey, userIds, answer: () => resolve(userIds.map((id) => `to ${id}`)), fail })
      }),
  )
  const ask = (userId: string, apiKey = 'a') => queue.ask(apiKey, userId, about(userId))
  const askMany = (count: number) => Array.from({ length: count }, (_, index) => ask(`u${index}`))
  return { calls, ask, askMany }
}

test('[7.8.7] questions of an API key that wait at the same moment are sent together, each once', async () => {
  const { calls, ask } = scene()
  const answers = Promise.all([ask('u1'), ask('u2'), ask('u1'), ask('u3', 'b')])
  await setImmediate()
  const again = ask('u1')
  await setImmediate()
  expect(calls.map(({ apiKey, userIds }) => [apiKey, userIds])).toEqual([
    ['a', ['u1', 'u2']],
    ['b', ['u3']],
  ])
  for (const { answer } of calls) answer()
  expect(await answers).toEqual(['to u1', 'to u2', 'to u1', 'to u3'])
  expect(await again).toBe('to u1')
  void ask('u1')
  await setImmediate()
  expect(calls).toHaveLength(3)
})

test('[7.8.7] an API key has at most 4 calls of up to 200 questions, and does not delay another one', async () => {
  const { calls, ask, askMany } = scene()
  const answers = askMany(1000)
  await expect.poll(() => calls.length).toBe(4)
  await setImmediate()
  expect(calls.map(({ userIds }) => userIds.length)).toEqual([200, 200, 200, 200])
  void ask('u1', 'b')
  await expect.poll(() => calls[4]?.apiKey).toBe('b')
  calls[0]?.answer()
  await expect.poll(() => calls[5]?.userIds.length).toBe(200)
  for (const { answer } of calls) answer()
  expect(await answers.at(-1)).toBe('to u999')
})

test('[7.8.7] while 10,000 questions of an API key wait, a further one is not asked', async () => {
  const { calls, ask, askMany } = scene()
  void askMany(10_000)
  expect(ask('one more')).toBeUndefined()
  void ask('u1', 'b')
  await expect.poll(() => calls.some(({ apiKey }) => apiKey === 'b')).toBe(true)
})

test('[7.8.7] a failed call rejects its questions only', async () => {
  const { calls, ask } = scene()
  const [first, second] = [ask('u1'), ask('u2', 'b')]
  await setImmediate()
  calls[0]?.fail(new Error('no database'))
  calls[1]?.answer()
  await expect(first).rejects.toThrow('no database')
  expect(await second).toBe('to u2')
})
