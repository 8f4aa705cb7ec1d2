import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { TooMuchWork } from '../../crdt/content/errors.ts'
import type { DocumentWork } from '../../crdt/document-threads.ts'
import { createLargeJson } from './large-json.ts'

test('[S3] a merge for which the threads have no capacity is retried every 50 ms until it succeeds', async () => {
  const clock = new SteppedClock()
  let attempts = 0
  const run = async <T>(work: DocumentWork<T>): Promise<T> => {
    if (++attempts < 3) throw new TooMuchWork()
    return work.inline()
  }
  let isDone = false
  const merged = createLargeJson({ run }, clock).merge('key', '{"a":1}', '{"b":2}', 100)
  void merged.then(() => (isDone = true))
  await setImmediate()
  expect(attempts).toBe(1)
  clock.step(49)
  await setImmediate()
  expect(attempts).toBe(1)
  clock.step(1)
  await setImmediate()
  expect({ attempts, isDone }).toEqual({ attempts: 2, isDone: false })
  clock.step(50)
  expect(await merged).toBe('{"a":1,"b":2}')
  expect(clock.pending).toBe(0)
})
