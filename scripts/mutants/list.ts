import { accessMutants } from './access.ts'
import { callMutants } from './calls.ts'
import { clientMutants } from './clients.ts'
import { dataMutants } from './data.ts'
import { deliveryMutants } from './deliveries.ts'
import type { Mutant } from './mutant.ts'
import { operatorMutants } from './operators.ts'
import { realtimeMutants } from './realtime.ts'
import { serverMutants } from './servers.ts'

/** Faults in all parts of the product. Each is in another place. */
export const mutants: readonly Mutant[] = [
  ...accessMutants,
  ...callMutants,
  ...dataMutants,
  ...realtimeMutants,
  ...serverMutants,
  ...deliveryMutants,
  ...operatorMutants,
  ...clientMutants,
]
