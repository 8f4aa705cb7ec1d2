import { ApiError } from '@plenum/protocol'
import type { TSchema } from 'typebox'
import type { Schema } from '../../platform/validation/explain.ts'
import { missingFields } from '../../platform/validation/missing-fields.ts'
import { createValidator } from '../../platform/validation/validator.ts'

/** Creates a function that throws `INVALID_ARGUMENT`, with the first invalid field, unless an input fits the schema. */
export function createInputCheck(schema: TSchema): (input: unknown) => void {
  const validate = createValidator(schema)
  const reportsAllMissing = (schema as Schema)['x-reports-all-missing'] === true
  return (input) => {
    const fault = validate(input)
    if (fault === undefined) return
    const missing = reportsAllMissing ? missingFields(schema, input) : []
    throw new ApiError('INVALID_ARGUMENT', fault, missing.length > 0 ? { details: { missing } } : {})
  }
}
