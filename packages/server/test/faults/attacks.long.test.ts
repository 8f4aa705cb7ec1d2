import { attacks } from '../../../../attack/attacks/index.ts'
import { stores } from '../support/harness.ts'
import { describeAttacks } from './attacked-server.ts'

const [, ...real] = attacks
for (const store of stores) {
  describeAttacks(store, store === 'sqlite' ? real : real.filter(({ withoutDatabase }) => !withoutDatabase))
}
