import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { explain } from './explain.ts'

/** Returns a sentence about the first invalid field, or undefined if the value fits the schema. */
export type Validator = (value: unknown) => string | undefined

/** Creates a validator. It is compiled on first use, because most servers use few operations. */
export function createValidator(schema: TSchema): Validator {
  let check: ((value: unknown) => boolean) | undefined
  return (value) => {
    if (!check) {
      const compiled = Compile(schema)
      check = (one) => compiled.Check(one)
    }
    return check(value) ? undefined : (explain(schema, value) ?? 'Invalid request.')
  }
}
