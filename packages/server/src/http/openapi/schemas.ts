import * as protocol from '@plenum/protocol'
import type { ApiVersion } from '@plenum/protocol'

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

/** The schema with its conditions and without its description, as text to compare. */
function shapeOf(schema: JsonSchema): string {
  const { description: _, ...shape } = plain(schema)
  return JSON.stringify([shape, conditionsOf(schema, 'v1'), conditionsOf(schema, 'v2')])
}

/** The conditions on the fields of an object together (`packages/protocol/src/base/conditions.ts`). */
const conditionsOf = (schema: JsonSchema, version: ApiVersion) =>
  ((version === 'v1' && schema['x-v1-conditions']) || schema['x-conditions']) as JsonSchema | undefined

/**
 * A map whose keys have a schema, without the keys that it names: generators of clients make of both a type that does not
 * compile, because a named key may be absent.
 */
function asMap({ properties, ...schema }: JsonSchema): JsonSchema {
  return properties === undefined || isSchema(schema.additionalProperties)
    ? schema
    : { ...schema, properties }
}

/** Adds conditions to a schema. Those on single fields are added to the fields. */
function withConditions(
  schema: JsonSchema,
  { required = [], properties = {}, ...others }: JsonSchema = {},
): JsonSchema {
  const stricter = Object.entries(properties as Record<string, JsonSchema>).map(([key, field]) => [
    key,
    { ...(schema.properties as Record<string, JsonSchema>)[key], ...field },
  ])
  const all = [...((schema.required ?? []) as string[]), ...(required as string[])]
  return {
    ...schema,
    ...(stricter.length > 0 && {
      properties: { ...(schema.properties as object), ...Object.fromEntries(stricter) },
    }),
    ...(all.length > 0 && { required: [...new Set(all)] }),
    ...others,
  }
}

/** Whether the schema has, at any depth, a field that v1 ignores or conditions that differ under v1. */
export const differsInV1 = (schema: object): boolean =>
  /"x-since":"v2"|"x-v1-conditions":/.test(JSON.stringify(schema))

/** The schema as v1 has it: without the fields that v1 ignores. */
function asInV1({ properties, ...schema }: JsonSchema): JsonSchema {
  if (!isSchema(properties)) return schema
  const older = Object.entries(properties).filter(([, field]) => (field as JsonSchema)['x-since'] !== 'v2')
  return { properties: Object.fromEntries(older), ...schema }
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

  /** A component that v1 has in another form has a name of its own for it. */
  function refer(name: string, schema: JsonSchema, version: ApiVersion): JsonSchema {
    const unique = version === 'v1' && differsInV1(schema) ? `${name}V1` : name
    if (!(unique in components)) {
      // Added before it is converted, because the schema may refer to itself.
      components[unique] = {}
      components[unique] = convertInner(schema, version)
    }
    return { $ref: `#/components/schemas/${unique}` }
  }

  function convert(schema: JsonSchema, version: ApiVersion): JsonSchema {
    const known = nameGiver(schema, named.get(anchorOf(schema)) ?? [])
    if (!known) return convertInner(schema, version)
    const { description } = schema
    return {
      ...refer(known.name, known.schema, version),
      ...(description !== known.schema.description && { description }),
    }
  }

  function convertInner(schema: JsonSchema, version: ApiVersion): JsonSchema {
    const inner = (one: JsonSchema) => convert(one, version)
    const { $defs, $ref, ...rest } = version === 'v1' ? asInV1(schema) : schema
    if (typeof $ref !== 'string') {
      return {
        ...typesOf(schema),
        ...withConditions(rebuild(asMap(rest), inner), conditionsOf(schema, version)),
      }
    }
    const target = ($defs as Record<string, JsonSchema> | undefined)?.[$ref]
    const reference = target ? refer($ref, target, version) : { $ref: `#/components/schemas/${$ref}` }
    return { ...reference, ...rebuild(rest, inner) }
  }

  return {
    components,
    /** Converts a declared schema, as the version has it. The result may refer to components. */
    of: (declared: object, version: ApiVersion = 'v2'): JsonSchema =>
      convert(declared as JsonSchema, version),
  }
}

export type Schemas = ReturnType<typeof createSchemas>
