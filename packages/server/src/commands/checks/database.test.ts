import { expect, test } from 'vitest'
import { checkClock } from './database.ts'

test('[D5] doctor reports a clock that differs from the clock of the database by a second or more', () => {
  expect(checkClock(-60_000, 2)).toMatchObject({ check: 'clock', status: 'warning' })
  expect(checkClock(1002, 2)).toMatchObject({ status: 'warning' })
  expect(checkClock(1001, 2)).toMatchObject({ status: 'ok' })
})
