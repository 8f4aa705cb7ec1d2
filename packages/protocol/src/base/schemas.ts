import Type, { type Static, type TSchema } from 'typebox'

/**
 * Returns a copy of the schema with this description. The copy shares the objects `properties` and `enum` with the schema,
 * because scripts/derive recognizes an exported schema by them. The copy of an optional schema is optional.
 */
export function described<T extends TSchema>(schema: T, description: string): T {
  const copy = Object.defineProperties({} as T, Object.getOwnPropertyDescriptors(schema))
  return Object.assign(copy, { description })
}

/** A string in an answer. It has no limits, because answers are not validated. */
export const text = (description: string) => Type.String({ description })

export const flag = (description: string) => Type.Boolean({ description })

export const choice = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...(description && { description }) })

/** An object that may have further keys besides the declared ones. */
export const openObject = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> & Record<string, unknown>>({ ...schema, additionalProperties: true })

/** An object that refuses unknown fields. */
export const closedObject = (properties: Record<string, object>, description?: string) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(description && { description }),
})

/** Any JSON object. */
export const jsonObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })

/** Any JSON value. */
export const jsonValue = (description: string) =>
  Type.Unsafe<unknown>({
    'x-type': ['string', 'number', 'boolean', 'object', 'array', 'null'],
    'x-typescript': 'unknown',
    description,
  })

/** An object whose keys are ids. */
export const mapOf = <T extends TSchema>(value: T, description?: string) =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    additionalProperties: value,
    ...(description && { description }),
  })

/** Limits the items of one batch write (spec 0.7). */
export const maxBatchItems = 500
/** Limits the ids of one filter (spec 0.7). */
export const maxFilterIds = 30

/** The items of a batch write: at least one. */
export const batch = <T extends TSchema>(item: T, description: string) =>
  Type.Array(item, { minItems: 1, maxItems: maxBatchItems, description })

/** An optional field that v1 ignores: the server removes it before it validates the input. */
export const v2Only = <T extends TSchema>(schema: T & { description?: string }) =>
  Type.Optional({
    ...schema,
    'x-since': 'v2',
    description: [schema.description, 'Ignored under v1.'].filter(Boolean).join(' '),
  })
