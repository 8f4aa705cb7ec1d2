import { describe, test } from 'vitest'
import { faultsWithId, useExperiment, useLab } from './short-lab.ts'

const services = useLab()

describe('two servers, PostgreSQL and Redis', () => {
  const tryFault = useExperiment(services)
  // More faults, and the control, are in lab.long.test.ts.
  test.for(faultsWithId('F2', 'F4'))(
    '[L1] no acknowledged write is lost or stored twice, clients converge, and a user who lost access is refused: $title',
    tryFault,
  )
})
