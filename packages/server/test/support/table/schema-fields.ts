import type { Schema } from '../../../src/platform/validation/explain.ts'

export interface Field {
  /** Keys and indexes from the input or the message down. */
  path: (string | number)[]
  schema: Schema
  isRequired: boolean
  /** The interface fixes the error message, and that message does not name the field. */
  hasFixedMessage: boolean
}

export const nameOf = (path: readonly (string | number)[]) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')

/** Returns every field of an input schema, and the fields of list items where the example has an item. */
export function fieldsOf(
  schema: Schema,
  value: unknown,
  path: Field['path'] = [],
  isRequired = true,
  isInsideFixed = false,
): Field[] {
  const hasFixedMessage =
    isInsideFixed ||
    schema['x-missing'] !== undefined ||
    (schema.type === 'object' && schema['x-invalid'] !== undefined)
  const self = path.length === 0 ? [] : [{ path, schema, isRequired, hasFixedMessage }]
  if (schema.type === 'object' && schema.properties) {
    const record = (value ?? {}) as Record<string, unknown>
    return [
      ...self,
      ...Object.entries(schema.properties).flatMap(([key, field]) =>
        fieldsOf(
          field,
          record[key],
          [...path, key],
          schema.required?.includes(key) ?? false,
          hasFixedMessage,
        ),
      ),
    ]
  }
  if (schema.type === 'array' && schema.items && Array.isArray(value) && value.length > 0) {
    return [...self, ...fieldsOf(schema.items, value[0], [...path, 0], true, hasFixedMessage)]
  }
  return self
}

/** Returns the example with one field replaced. Missing objects on the path are created. */
export function withField(input: unknown, [key, ...rest]: Field['path'], value: unknown): unknown {
  if (key === undefined) return value
  if (typeof key === 'number') {
    const list = Array.isArray(input) ? [...input] : []
    list[key] = withField(list[key], rest, value)
    return list
  }
  const record = { ...(input as Record<string, unknown> | undefined) }
  record[key] = withField(record[key], rest, value)
  return record
}
