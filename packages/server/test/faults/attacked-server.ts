import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attack } from '../../../../attack/attack.ts'
import { type Experiment, startExperiment } from '../../../../attack/measure.ts'
import { createPostgresDatabase, type Store } from '../support/harness.ts'

const maxAttempts = 4

/**
 * Runs the short form of each attack on a server in a process of its own, while another tenant uses the server. Nothing here
 * depends on the speed of the machine: `npm run attack` measures the promised delays.
 */
export function describeAttacks(store: Store, attacks: readonly Attack[]): void {
  describe(`attacks on ${store}`, () => {
    let experiment: Experiment
    beforeAll(async () => {
      const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
      const heapMegabytes = Math.min(...attacks.map((attack) => attack.heapMegabytes ?? Infinity))
      experiment = await startExperiment(
        databaseUrl,
        Number.isFinite(heapMegabytes) ? heapMegabytes : undefined,
      )
    })
    afterAll(() => experiment?.stop())
    test.each(attacks)(
      '[S1] [S2] requests and edits of another tenant are answered while the attack is in progress: $name',
      async (attack) => {
        /** The kinds of requests that were never answered during an attack. */
        let unanswered: string[] | undefined
        // Some attacks end after a second, in which a slow machine answers little.
        for (let attempt = 0; attempt < maxAttempts && unanswered?.length !== 0; attempt++) {
          const { failures, answered, grownMegabytes } = await experiment.run(attack, 'short')
          expect(failures).toEqual([])
          expect(grownMegabytes).toBeLessThan(attack.maxMegabytes ?? Infinity)
          const isUnanswered = (kind: string) => answered[kind as keyof typeof answered] === 0
          unanswered = (unanswered ?? Object.keys(answered)).filter(isUnanswered)
        }
        expect(unanswered, 'These requests waited until the attack was over').toEqual([])
      },
    )
  })
}
