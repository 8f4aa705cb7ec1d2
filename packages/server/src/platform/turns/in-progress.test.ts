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
  const reserve = { perUser: 0, perKey: 0 }
  const inProgress = new InProgress({ perUser: 2, perKey: 3, perServer: 4 }, reserve, 'Too much.')
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

test('[S5.5] users and API keys with little work are not refused because of the others, up to twice the limits', () => {
  const inProgress = new InProgress(
    { perUser: 3, perKey: 3, perServer: 6 },
    { perUser: 1, perKey: 2 },
    'Too much.',
  )
  const enter = (...who: Parameters<typeof by>) => inProgress.enter(by(...who))
  for (const apiKey of ['a', 'b']) for (let count = 0; count < 3; count++) enter(apiKey, 'ada')
  // The keys have all that they may have, and the server as well.
  expect(() => enter('a', 'ada')).toThrow(refusal)
  enter('c', 'ada')
  enter('c', 'ada')
  expect(() => enter('c', 'bob')).toThrow(refusal)
  const alone = new InProgress(
    { perUser: 3, perKey: 3, perServer: 60 },
    { perUser: 1, perKey: 2 },
    'Too much.',
  )
  for (let count = 0; count < 3; count++) alone.enter(by('a', 'ada'))
  for (const userId of ['bob', 'eve', undefined]) alone.enter(by('a', userId))
  expect(() => alone.enter(by('a', 'bob'))).toThrow(refusal)
  expect(() => alone.enter(by('a', 'joe'))).toThrow(refusal)
})
