import * as protocol from '@plenum/protocol'

export type JsonSchema = { [keyword: string]: unknown }

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Sorts the entries by name, so that the OpenAPI document is the same wherever it is built. */
export const sorted = <T>(map: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords whose value is a map of schemas, a list of schemas or a schema. */
const maps = new Set(['properties', 'patternProperties', '$defs'])
const lists = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'not'])

/** Our own keywords, which begin with `x-`, and those of the schema library. */
const internal = /^(x-|~|\$id$)/

/** Copies a schema without internal keywords, and replaces each schema directly inside by the result of `change`. */
function rebuild(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const one = (value: unknown) => (isSchema(value) ? change(value) : value)
  const rebuilt: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (internal.test(keyword)) continue
    if (maps.has(keyword) && isSchema(value)) {
      rebuilt[keyword] = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, one(inner)]))
    } else if (lists.has(keyword) && Array.isArray(value)) rebuilt[keyword] = value.map(one)
    else rebuilt[keyword] = singles.has(keyword) ? one(value) : value
  }
  return rebuilt
}

/** A declared schema as JSON Schema, without internal keywords. */
export const plain = (schema: object): JsonSchema => rebuild(schema as JsonSchema, plain)

/**
 * The keyword `type` for a schema without one: the types of a union, or those in `x-type` where validation accepts any
 * value. The library that renders the reference page treats schemas without a type as invalid.
 */
function typesOf({ type, anyOf, 'x-type': sent }: JsonSchema): { type?: unknown[] } {
  if (type === undefined && Array.isArray(sent)) return { type: sent }
  if (type !== undefined || !Array.isArray(anyOf)) return {}
  const types: unknown[] = anyOf.flatMap((choice: JsonSchema) => choice.type ?? typesOf(choice).type)
  return types.includes(undefined) ? {} : { type: [...new Set(types)] }
}

/** The value inside a schema that its copies share. An optional field, or one with its own description, is a copy. */
const anchorOf = ({ properties, enum: choices, additionalProperties, pattern }: JsonSchema): unknown =>
  properties ?? choices ?? (isSchema(additionalProperties) ? additionalProperties : pattern)

interface NamedSchema {
  name: string
  schema: JsonSchema
  /** The schema without its description, as text to compare. */
  shape: string
}

/** The schema without its description, as text to compare. */
function shapeOf(schema: JsonSchema): string {
  const { description: _, ...shape } = plain(schema)
  return JSON.stringify(shape)
}

/** The schemas that the protocol exports, by the value that they share with their copies, in the order of their names. */
function namedSchemas() {
  const named = new Map<unknown, NamedSchema[]>()
  for (const [name, schema] of Object.entries(sorted<unknown>({ ...protocol }))) {
    if (!isSchema(schema) || typeof schema.type !== 'string') continue
    const anchor = anchorOf(schema)
    if (anchor === undefined) continue
    const same = named.get(anchor) ?? []
    named.set(anchor, [...same, { name, schema, shape: shapeOf(schema) }])
  }
  return named
}

/**
 * The exported schema that gives this one its name. Most ids are copies of one schema, so a text is named only by the
 * schema with the same description: an id of an organization must not be called an action. Undefined: it stays in place,
 * because it has no name or limits of its own.
 */
function nameGiver(schema: JsonSchema, exported: readonly NamedSchema[]): NamedSchema | undefined {
  const shape = shapeOf(schema)
  const same = exported.filter((one) => one.shape === shape)
  const exact = same.find((one) => one.schema.description === schema.description)
  return exact ?? (schema.type === 'string' && schema.enum === undefined ? undefined : same[0])
}

/** Converts the schemas of an OpenAPI document. Schemas that the protocol exports become components; others stay in place. */
export function createSchemas() {
  const named = namedSchemas()
  const components: Record<string, JsonSchema> = {}

  function refer(name: string, schema: JsonSchema): JsonSchema {
    if (!(name in components)) {
      // Added before it is converted, because the schema may refer to itself.
      components[name] = {}
      components[name] = convertInner(schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function convert(schema: JsonSchema): JsonSchema {
    const known = nameGiver(schema, named.get(anchorOf(schema)) ?? [])
    if (!known) return convertInner(schema)
    const { description } = schema
    return {
      ...refer(known.name, known.schema),
      ...(description !== known.schema.description && { description }),
    }
  }

  function convertInner(schema: JsonSchema): JsonSchema {
    const { $defs, $ref, ...rest } = schema
    if (typeof $ref !== 'string') return { ...typesOf(schema), ...rebuild(schema, convert) }
    const target = ($defs as Record<string, JsonSchema> | undefined)?.[$ref]
    const reference = target ? refer($ref, target) : { $ref: `#/components/schemas/${$ref}` }
    return { ...reference, ...rebuild(rest, convert) }
  }

  return {
    components,
    /** Converts a declared schema. The result may refer to components. */
    of: (declared: object): JsonSchema => convert(declared as JsonSchema),
  }
}

export type Schemas = ReturnType<typeof createSchemas>
