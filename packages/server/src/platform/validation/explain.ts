/** The part of JSON Schema that the declarations of operations and messages use, with our own keywords. */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: readonly Schema[]
  enum?: readonly unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  /** The whole message when the field is missing. */
  'x-missing'?: string
  /**
   * What follows the field's name in the message when the pattern does not match. On an object: the whole message for any
   * fault.
   */
  'x-invalid'?: string
  /** On an input: if required fields are missing, also inside its fields, the details of the error name all of them. */
  'x-reports-all-missing'?: boolean
  /** The field exists since this version; `v1` ignores it. */
  'x-since'?: 'v2'
  /** Conditions on the fields together: see `packages/protocol/src/base/conditions.ts`. */
  'x-conditions'?: Readonly<Record<string, unknown>>
  /** The conditions that apply under `v1` instead. */
  'x-v1-conditions'?: Readonly<Record<string, unknown>>
  /** A field of a message of `/realtime` that is stored: see `packages/protocol/src/messages/fields.ts`. */
  'x-stored'?: boolean
}

/**
 * Returns the message for the first invalid field, in the order of the declaration (spec 0.3), or undefined if all are valid.
 * Runs only for input that the validator refused, so it need not be fast.
 */
export function explain(schema: Schema, value: unknown, path = '', isOptional = false): string | undefined {
  const name = path || 'data'
  if (schema.anyOf) return explainUnion(schema.anyOf, value, path, isOptional)
  if (schema.enum) return schema.enum.includes(value) ? undefined : wrongChoice(schema.enum, value, name)
  if (schema.type === undefined) return undefined
  if (!hasType(schema.type, value))
    return schema['x-invalid'] && schema.type === 'object'
      ? schema['x-invalid']
      : `${name} must be ${article[schema.type]}.`
  switch (schema.type) {
    case 'string':
      return explainString(schema, value as string, name, isOptional)
    case 'integer':
    case 'number':
      return explainNumber(schema, value as number, name)
    case 'array':
      return explainArray(schema, value as unknown[], path, name)
    case 'object':
      return explainObject(schema, value as Record<string, unknown>, path)
    default:
      return undefined
  }
}

const article = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
} as const

export function hasType(type: NonNullable<Schema['type']>, value: unknown): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}

const wrongChoice = (choices: readonly unknown[], value: unknown, name: string) =>
  typeof value === 'string' || typeof choices[0] !== 'string'
    ? `${name} must be one of: ${choices.join(', ')}.`
    : `${name} must be a string.`

function explainUnion(
  options: readonly Schema[],
  value: unknown,
  path: string,
  isOptional: boolean,
): string | undefined {
  const faults = options.map((option) => explain(option, value, path, isOptional))
  if (faults.includes(undefined)) return undefined
  // Explain the alternative that has the type of the value: the caller most likely meant that one.
  const meant = options.findIndex((option) => option.type !== undefined && hasType(option.type, value))
  if (meant >= 0) return faults[meant]
  const types = options.flatMap((option) => (option.type ? [article[option.type]] : []))
  return `${path || 'data'} must be ${[...new Set(types)].join(' or ')}.`
}

function explainString(schema: Schema, value: string, name: string, isOptional: boolean): string | undefined {
  if (isBlank(schema, value)) {
    return schema['x-missing'] ?? `${name} ${isOptional ? 'must not be empty' : 'is required'}.`
  }
  if (schema.maxLength !== undefined && isLonger(value, schema.maxLength)) {
    return `${name} must have at most ${schema.maxLength} characters.`
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    return `${name} ${schema['x-invalid'] ?? 'has an invalid form.'}`
  }
  return undefined
}

/** Whether the text has more code points than `max`, as the validator counts them. */
function isLonger(text: string, max: number): boolean {
  // A code point is one or two units of the string's length.
  if (text.length <= max || text.length > 2 * max) return text.length > max
  return Array.from(text).length > max
}

function explainNumber({ minimum, maximum }: Schema, value: number, name: string): string | undefined {
  if ((minimum ?? -Infinity) <= value && value <= (maximum ?? Infinity)) return undefined
  const hasMaximum = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  if (minimum === undefined || (!hasMaximum && value > minimum)) return `${name} must be at most ${maximum}.`
  if (!hasMaximum) return `${name} must be at least ${minimum}.`
  return `${name} must be an integer between ${minimum} and ${maximum}.`
}

function explainArray(schema: Schema, value: unknown[], path: string, name: string): string | undefined {
  if (schema.minItems && value.length === 0) return `${name} must not be empty.`
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    return `${name} must have at most ${schema.maxItems} items.`
  }
  if (!schema.items) return undefined
  for (const [index, item] of value.entries()) {
    const fault = explain(schema.items, item, `${path}[${index}]`)
    if (fault) return fault
  }
  return undefined
}

function explainObject(schema: Schema, value: Record<string, unknown>, path: string): string | undefined {
  const fault = explainFields(schema, value, path)
  return fault && (schema['x-invalid'] ?? fault)
}

function explainFields(schema: Schema, value: Record<string, unknown>, path: string): string | undefined {
  const inner = (key: string) => (path ? `${path}.${key}` : key)
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    const sent = Object.hasOwn(value, key) ? value[key] : undefined
    const isRequired = schema.required?.includes(key) ?? false
    if (sent === undefined) {
      if (isRequired) return field['x-missing'] ?? `${inner(key)} is required.`
      continue
    }
    const fault = explain(field, sent, inner(key), !isRequired)
    if (fault) return fault
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (schema.properties && Object.hasOwn(schema.properties, key)) continue
      const fault = explain(schema.additionalProperties, item, inner(key))
      if (fault) return fault
    }
  }
  if (schema.additionalProperties === false) {
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(schema.properties ?? {}, key))
    if (unknown !== undefined) return `${inner(unknown)} is not a known field.`
  }
  return undefined
}

/** Whether a text that must not be empty is blank. It counts as missing. */
export const isBlank = ({ minLength = 0 }: Schema, value: unknown): boolean =>
  minLength > 0 && typeof value === 'string' && value.trim() === ''
