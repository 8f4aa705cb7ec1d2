import { beforeAll } from 'vitest'
import { attacks } from '../../../../attack/attacks/index.ts'
import { stores } from '../support/harness.ts'
import { buildServer } from '../support/processes/process.ts'
import { describeAttacks } from './attacked-server.ts'

beforeAll(buildServer)

const [, ...real] = attacks
for (const store of stores) {
  describeAttacks(store, store === 'sqlite' ? real : real.filter(({ withoutDatabase }) => !withoutDatabase))
}
