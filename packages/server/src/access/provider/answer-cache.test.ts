import { expect, test } from 'vitest'
import { AnswerCache, knownAnswer } from './answer-cache.ts'

const now = 1_800_000_000
const at = (seconds: number, ms = 0) => (now + seconds) * 1000 + ms

test('[7.8.5] an answer ends at its expiry, rounded down to seconds, otherwise after 10 minutes', () => {
  const expiring = knownAnswer({ hasAccess: true, accessRole: 'viewer', expiresAt: at(90, 999) }, now)
  expect(expiring).toMatchObject({
    answer: { hasAccess: true, accessRole: 'viewer', expiresAt: now + 90 },
    endsAt: now + 90,
  })
  const lasting = knownAnswer({ hasAccess: false }, now)
  expect(lasting).toEqual({ answer: { hasAccess: false }, renewAt: now + 600, endsAt: now + 600 })
})

test('[7.8.4] a missing answer, or one that has expired, is remembered for 5 s', () => {
  for (const entry of [undefined, { hasAccess: true, expiresAt: at(0, 999) }]) {
    expect(knownAnswer(entry, now)).toEqual({ answer: undefined, renewAt: now + 5, endsAt: now + 5 })
  }
})

test('[7.8.6] an answer is renewed 40 s before its end, or when half of its time is over', () => {
  const renewedAfter = (life: number) =>
    knownAnswer({ hasAccess: true, expiresAt: at(life) }, now).renewAt - now
  expect([600, 100, 80, 60, 10, 1].map(renewedAfter)).toEqual([560, 60, 40, 30, 5, 1])
})

test('[7.8.5] answers end at their time, and belong to one revision of the settings', () => {
  const cache = new AnswerCache()
  const known = knownAnswer({ hasAccess: true, expiresAt: at(10) }, now)
  cache.put('r1', 'question', known)
  expect(cache.find('r1', 'question', now + 9)).toBe(known)
  expect(cache.find('r1', 'question', now + 10)).toBeUndefined()
  expect(cache.find('r2', 'question', now)).toBeUndefined()
  expect(cache.find('r1', 'other', now)).toBeUndefined()
})

test('[7.8.5] many answers of one API key displace none of another, and their number is limited', () => {
  const cache = new AnswerCache()
  const known = knownAnswer({ hasAccess: true }, now)
  cache.put('quiet', 'question', known)
  for (let index = 0; index < 10_001; index++) cache.put('busy', `question ${index}`, known)
  expect(cache.find('busy', 'question 0', now)).toBeUndefined()
  expect(cache.find('busy', 'question 1', now)).toBe(known)
  expect(cache.find('quiet', 'question', now)).toBe(known)
})
