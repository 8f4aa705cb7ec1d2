import * as protocol from '@plenum/protocol'

export type JsonSchema = { [keyword: string]: unknown }

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Sorted by name, so the document is the same wherever it is built. */
export const sorted = <T>(map: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords whose value is a map of schemas, a list of schemas or a schema. */
const maps = new Set(['properties', 'patternProperties', '$defs'])
const lists = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'not'])

/** Keywords that word our messages, and keywords of the schema library. */
const internal = /^(x-|~|\$id$)/

/** Removes internal keywords and applies `change` to each schema directly inside this one. */
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

/** A declared schema as plain JSON Schema. */
export const plain = (schema: object): JsonSchema => rebuild(schema as JsonSchema, plain)

/**
 * The types of a union, or the ones that callers may send where validation accepts any value. The library of the reference
 * page treats schemas without a type as invalid.
 */
function typesOf({ type, anyOf, 'x-type': sent }: JsonSchema): { type?: unknown[] } {
  if (type === undefined && Array.isArray(sent)) return { type: sent }
  if (type !== undefined || !Array.isArray(anyOf)) return {}
  const types: unknown[] = anyOf.flatMap((choice: JsonSchema) => choice.type ?? typesOf(choice).type)
  return types.includes(undefined) ? {} : { type: [...new Set(types)] }
}

/** The part of a schema that its copies share: optional and described fields are copies. */
const anchorOf = ({ properties, enum: choices, additionalProperties, pattern }: JsonSchema): unknown =>
  properties ?? choices ?? (isSchema(additionalProperties) ? additionalProperties : pattern)

interface NamedSchema {
  name: string
  schema: JsonSchema
  /** The part that its copies share, as text to compare. */
  shape: string
}

/** A schema without its description, as text to compare. */
function shapeOf(schema: JsonSchema): string {
  const { description: _, ...shape } = plain(schema)
  return JSON.stringify(shape)
}

/** The schemas that the protocol exports by name. */
function namedSchemas() {
  const named = new Map<unknown, NamedSchema>()
  for (const [name, schema] of Object.entries(sorted<unknown>({ ...protocol }))) {
    if (!isSchema(schema) || typeof schema.type !== 'string') continue
    const anchor = anchorOf(schema)
    if (anchor !== undefined && !named.has(anchor))
      named.set(anchor, { name, schema, shape: shapeOf(schema) })
  }
  return named
}

/** The schemas of a document: named ones become components, the others stay in place. */
export function createSchemas() {
  const named = namedSchemas()
  const components: Record<string, JsonSchema> = {}

  function refer(name: string, schema: JsonSchema): JsonSchema {
    if (!(name in components)) {
      // Entered before it is converted, because it may refer to itself.
      components[name] = {}
      components[name] = convertInner(schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function convert(schema: JsonSchema): JsonSchema {
    const known = named.get(anchorOf(schema))
    // A copy with limits of its own stays in place.
    if (known?.shape !== shapeOf(schema)) return convertInner(schema)
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
    /** A declared schema, with references to components inside. */
    of: (declared: object): JsonSchema => convert(declared as JsonSchema),
  }
}

export type Schemas = ReturnType<typeof createSchemas>
