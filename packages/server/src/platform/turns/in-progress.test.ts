import { expect, test } from 'vitest'
import { InProgress } from './in-progress.ts'

const by = (apiKey: string, userId?: string) => ({
  apiKey,
  ...(userId !== undefined && { user: { userId } }),
})
const refusal = expect.objectContaining({
  status: 'RESOURCE_EXHAUSTED',
  message: 'Too much.',
  retryAfterSeconds: 1,
})

test('[S5.5] work above the limit of a user, of an API key or of the server is refused, until other work is over', () => {
  const inProgress = new InProgress({ perUser: 2, perKey: 3, perServer: 4 }, 'Too much.')
  const enter = (...who: Parameters<typeof by>) => inProgress.enter(by(...who))
  const leave = enter('a', 'ada')
  enter('a', 'ada')
  expect(() => enter('a', 'ada')).toThrow(refusal)
  enter('a', 'bob')
  // A backend has no limit of its own, but the key has.
  expect(() => enter('a')).toThrow(refusal)
  // Users of different keys may have the same id.
  enter('b', 'ada')
  expect(() => enter('c')).toThrow(refusal)
  leave()
  leave()
  enter('a', 'ada')
  expect(() => enter('a', 'bob')).toThrow(refusal)
  expect(() => enter('b', 'bob')).toThrow(refusal)
})
