import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LabServices } from '../../../../lab/cluster.ts'
import { Experiment } from '../../../../lab/experiment.ts'
import type { Fault } from '../../../../lab/fault.ts'
import { faults } from '../../../../lab/faults/index.ts'
import { reportCounts, rounds } from '../support/effort.ts'

import { testSeed } from '../support/random.ts'

/** The short form of `npm run lab`, which makes all faults, with every link and control. */
const tried = faults.filter(({ id }) => ['F2', 'F3', 'F4', 'F7', 'F14', 'F16'].includes(id))
const [killedServer] = tried as [Fault]
const trials = rounds(1)
const writes = 200
/** A trial of the control loses nothing if no write is in progress at the moment of the kill. */
const maxControlTrials = 5

const services = new LabServices()
afterAll(() => services.stop())

describe('two servers, PostgreSQL and Redis', () => {
  let experiment: Experiment
  /** Kept when a test runs again: a slow machine excuses what took too long, and no write that was lost or stored twice. */
  const broken: string[] = []
  let trial = 0
  beforeAll(async () => {
    experiment = await Experiment.start({
      services,
      fault: killedServer,
      link: 'redis',
      seed: testSeed,
      writes,
      isShort: true,
    })
  })
  afterAll(() => experiment?.stop())
  test.for(tried)(
    '[L1] no acknowledged write is lost or stored twice, clients converge, and a user who lost access is refused: $title',
    async (fault, context) => {
      const counts = { trials, acknowledged: 0 }
      for (let count = 0; count < trials; count++) {
        const { acknowledged, lost, duplicated, problems } = await experiment.run(trial++, fault)
        counts.acknowledged += acknowledged
        if (lost + duplicated > 0) broken.push(`${fault.id}: ${lost} lost, ${duplicated} duplicated`)
        expect({ broken, problems }).toEqual({ broken: [], problems: [] })
        expect(acknowledged).toBeGreaterThan(1)
      }
      reportCounts(context, counts)
    },
  )
})

test('[L2] the lab finds the lost writes of servers that acknowledge before they commit', async () => {
  const options = { services, fault: killedServer, link: 'postgres', seed: testSeed, writes } as const
  const control = await Experiment.start({ ...options, isControl: true })
  try {
    let lost = 0
    for (let trial = 0; lost === 0 && trial < maxControlTrials; trial++) ({ lost } = await control.run(trial))
    expect(lost).toBeGreaterThan(0)
  } finally {
    await control.stop()
  }
})
