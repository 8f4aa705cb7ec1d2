import type { TSchema } from 'typebox'

/**
 * Conditions on the fields of an object together, as JSON Schema. A schema has them under `x-conditions`. `/openapi.json`
 * shows them. The server checks them in the handlers, which answer with the messages of the interface.
 *
 * They use `if`: generators of clients ignore it, whereas they turn `anyOf` into types that accept too much or nothing.
 */
export type Conditions = Readonly<Record<string, unknown>>

/** Returns a copy of the schema with conditions. Types do not tell it from the schema. */
export const withConditions = <T extends TSchema>(schema: T, conditions: Conditions): T => ({
  ...schema,
  'x-conditions': conditions,
})

/** All of these fields are sent. */
export const allOf = (...fields: readonly string[]): Conditions => ({
  // Checkers of OpenAPI documents want to know the fields.
  properties: Object.fromEntries(fields.map((field) => [field, {}])),
  required: fields,
})

/** At least one of these fields is sent. */
export function anyOf(first: string, ...others: readonly string[]): Conditions {
  const [next, ...rest] = others
  return next === undefined ? allOf(first) : { if: allOf(first), else: anyOf(next, ...rest) }
}

/** Not both of these fields are sent. */
export const notBoth = (one: string, other: string): Conditions => ({ not: allOf(one, other) })

/** Exactly one of these fields is sent. */
export const oneOf = (one: string, other: string): Conditions => ({
  ...anyOf(one, other),
  ...notBoth(one, other),
})

/** The field has this value, and not because it is absent. */
const has = (field: string, value: string | boolean) => ({
  properties: { [field]: { const: value } },
  required: [field],
})

/** If the field has the value, the other condition holds. Without the keyword `then`, because an object with it looks like a promise. */
export const when = (field: string, value: string | boolean, condition: Conditions): Conditions => ({
  if: { not: has(field, value) },
  else: condition,
})

/** Unless the field has the value, the other condition holds. */
export const unless = (field: string, value: string | boolean, otherwise: Conditions): Conditions => ({
  if: has(field, value),
  else: otherwise,
})
