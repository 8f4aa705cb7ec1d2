import { afterAll, beforeAll, expect, type TestContext } from 'vitest'
import { LabServices } from '../../../../lab/cluster.ts'
import { Experiment } from '../../../../lab/experiment.ts'
import type { Fault } from '../../../../lab/fault.ts'
import { faults } from '../../../../lab/faults/index.ts'
import { reportCounts, rounds } from '../support/random/effort.ts'
import { testSeed } from '../support/random/random.ts'

export const faultsWithId = (...ids: string[]): Fault[] => faults.filter(({ id }) => ids.includes(id))
export const [killedServer] = faultsWithId('F2') as [Fault]
const trials = rounds(1)
/** About how many writes a trial acknowledges. */
export const writes = 200

/** The services of all tests of a file. */
export function useLab(): LabServices {
  const services = new LabServices()
  afterAll(() => services.stop())
  return services
}

/** Two servers, PostgreSQL and Redis, for all tests of a `describe`. Returns a function that tries a fault. */
export function useExperiment(services: LabServices) {
  let experiment: Experiment
  /** Kept when a test runs again: a slow machine excuses what took too long, and no write that was lost or stored twice. */
  const broken: string[] = []
  let trial = 0
  beforeAll(async () => {
    const options = { services, fault: killedServer, link: 'redis', seed: testSeed, writes } as const
    experiment = await Experiment.start({ ...options, isShort: true })
  })
  afterAll(() => experiment?.stop())
  return async (fault: Fault, context: Pick<TestContext, 'task'>): Promise<void> => {
    const counts = { trials, acknowledged: 0 }
    for (let count = 0; count < trials; count++) {
      const { acknowledged, lost, duplicated, problems } = await experiment.run(trial++, fault)
      counts.acknowledged += acknowledged
      if (lost + duplicated > 0) broken.push(`${fault.id}: ${lost} lost, ${duplicated} duplicated`)
      expect({ broken, problems }).toEqual({ broken: [], problems: [] })
      expect(acknowledged).toBeGreaterThan(1)
    }
    reportCounts(context, counts)
  }
}
