import { ApiError } from '@plenum/protocol'
import type { TSchema } from 'typebox'
import { createValidator } from '../../platform/validation/validator.ts'

/** Creates a function that throws `INVALID_ARGUMENT`, with the first invalid field, unless an input fits the schema. */
export function createInputCheck(schema: TSchema): (input: unknown) => void {
  const validate = createValidator(schema)
  return (input) => {
    const fault = validate(input)
    if (fault !== undefined) throw new ApiError('INVALID_ARGUMENT', fault)
  }
}
