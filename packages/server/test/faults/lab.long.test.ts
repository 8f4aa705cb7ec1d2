import { describe, expect, test } from 'vitest'
import { Experiment } from '../../../../lab/experiment.ts'
import { testSeed } from '../support/random/random.ts'
import { faultsWithId, killedServer, useExperiment, useLab, writes } from './short-lab.ts'

const services = useLab()

describe('two servers, PostgreSQL and Redis', () => {
  const tryFault = useExperiment(services)
  // `npm run lab` makes all faults, with every link and control.
  test.for(faultsWithId('F2', 'F3', 'F4', 'F7', 'F14', 'F16'))(
    '[L1] no acknowledged write is lost or stored twice, clients converge, and a user who lost access is refused: $title',
    tryFault,
  )
})

/** A trial of the control loses nothing if no write is in progress at the moment of the kill. */
const maxControlTrials = 5

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
