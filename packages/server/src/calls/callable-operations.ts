import { type Operation, operations } from '@plenum/protocol'
import type { AllHandlers, AnyHandler } from './call.ts'
import { createFieldFilter, type FieldFilter } from './input/ignored-fields.ts'
import { createInputCheck, createInputCheckOfV1 } from './input/validate.ts'

/** An operation with everything that is needed to call it. */
export interface CallableOperation {
  /** `family.verb`: the name in metrics, logs, page tokens and idempotency keys. */
  readonly name: string
  readonly declaration: Operation
  readonly handler: AnyHandler
  /** Throws `INVALID_ARGUMENT` if the input does not fit the declaration. */
  readonly validate: (input: unknown) => void
  /** Removes the fields that `v1` ignores. Undefined: `v1` ignores none. */
  /** Set if v1 requires fields that v2 does not require. */
  readonly validateUnderV1: ((input: unknown) => void) | undefined
  readonly dropFieldsIgnoredByV1: FieldFilter | undefined
}

export type CallableOperations = ReadonlyMap<string, CallableOperation>

/** Joins each declaration of the operation table with its handler. */
export function createCallableOperations(handlers: AllHandlers): CallableOperations {
  const callables = new Map<string, CallableOperation>()
  for (const [family, verbs] of Object.entries(operations) as [string, Record<string, Operation>][]) {
    const ofFamily = (handlers as unknown as Record<string, Record<string, AnyHandler>>)[family]
    for (const [verb, declaration] of Object.entries(verbs)) {
      const name = `${family}.${verb}`
      const handler = ofFamily?.[verb]
      if (!handler) throw new Error(`The operation ${name} has no handler.`)
      callables.set(name, {
        name,
        declaration,
        handler,
        validate: createInputCheck(declaration.input),
        validateUnderV1: createInputCheckOfV1(declaration.input),
        dropFieldsIgnoredByV1: createFieldFilter(declaration.input),
      })
    }
  }
  return callables
}
