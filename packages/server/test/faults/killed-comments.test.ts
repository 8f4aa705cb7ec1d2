import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { rounds } from '../support/random/effort.ts'
import { faultsOf, killRepeatedly } from './killed-comments.ts'

const kills = rounds(1)

describe('comments and their events after SIGKILL', { retry: 0 }, () => {
  test.each(stores)(
    '[27.1] [P1] a killed server on %s has every acknowledged comment with its event, once and in order, and no event without its comment',
    { timeout: 300_000 },
    async (store) => {
      const { acknowledged, stored, logged, size } = await killRepeatedly('server', store, kills)
      expect(faultsOf(acknowledged, stored, logged)).toEqual([])
      expect(size(acknowledged)).toBeGreaterThanOrEqual(20 * kills)

      // The check finds a missing comment, a missing event, a repeated event and a wrong order.
      const [[annotationId, ids] = ['', []]] = stored
      const changes = [ids.slice(1), [...ids, ids[0] ?? 0], ids.toReversed()]
      for (const changed of changes) {
        const broken = new Map(stored).set(annotationId, changed)
        expect(faultsOf(acknowledged, broken, logged)).not.toEqual([])
        expect(faultsOf(acknowledged, stored, broken)).not.toEqual([])
      }
    },
  )
})
