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

/** The check under v1; undefined if it is the same. It requires what the conditions of v1 require (`x-v1-conditions`). */
export function createInputCheckOfV1(schema: TSchema): ((input: unknown) => void) | undefined {
  const older = asRequiredByV1(schema)
  return older === schema ? undefined : createInputCheck(older)
}

/** The schema with the fields that v1 requires; the same object if v1 requires no others. */
function asRequiredByV1(schema: Schema): Schema {
  const { properties = {}, items, anyOf, required = [], 'x-v1-conditions': conditions } = schema
  const added = (conditions?.required ?? []) as readonly string[]
  const fields = Object.entries(properties).map(([key, field]) => [key, asRequiredByV1(field)] as const)
  const item = items && asRequiredByV1(items)
  const choices = anyOf?.map(asRequiredByV1)
  const isSame =
    added.length === 0 &&
    item === items &&
    fields.every(([key, field]) => field === properties[key]) &&
    (choices ?? []).every((choice, index) => choice === anyOf?.[index])
  if (isSame) return schema
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(fields) }),
    ...(item && { items: item }),
    ...(choices && { anyOf: choices }),
    required: [...required, ...added],
  }
}
