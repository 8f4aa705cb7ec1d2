import type { Schema } from '../../platform/validation/explain.ts'

/** Removes fields from an input, in place. */
export type FieldFilter = (input: unknown) => void

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Creates a filter that removes the fields which exist only since `v2`. Returns undefined if the schema has none. */
export function createFieldFilter(schema: Schema): FieldFilter | undefined {
  if (schema.anyOf) {
    // A value that has another type is left as it is.
    const drops = schema.anyOf.flatMap((one) => createFieldFilter(one) ?? [])
    return drops.length === 0 ? undefined : (value) => drops.forEach((drop) => drop(value))
  }
  if (schema.items) {
    const drop = createFieldFilter(schema.items)
    return drop && ((list) => Array.isArray(list) && list.forEach(drop))
  }
  const fields = Object.entries(schema.properties ?? {})
  const newer = fields.flatMap(([key, field]) => (field['x-since'] === 'v2' ? [key] : []))
  const inner = fields.flatMap(([key, field]): [string, FieldFilter][] => {
    const drop = createFieldFilter(field)
    return drop ? [[key, drop]] : []
  })
  if (newer.length === 0 && inner.length === 0) return undefined
  return (value) => {
    if (!isObject(value)) return
    for (const key of newer) delete value[key]
    for (const [key, drop] of inner) if (Object.hasOwn(value, key)) drop(value[key])
  }
}
