import { expect, test } from 'vitest'
import { faultsOf, killRepeatedly } from './killed-comments.ts'

test(
  '[27.1] [P1] the test detects lost comments of a control server that answers before it commits',
  { retry: 0, timeout: 300_000 },
  async () => {
    const { acknowledged, stored, logged } = await killRepeatedly('earlyAnswers', 'sqlite', 1)
    expect(faultsOf(acknowledged, stored, logged)).not.toEqual([])
  },
)
