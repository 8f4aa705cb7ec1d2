import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Schema } from '../../src/calls/input/explain.ts'
import * as given from '../support/given.ts'
import { type TestServer, useServer } from '../support/harness.ts'
import { type Entry, table } from '../support/table.ts'

interface Field {
  /** Keys and indexes from `data` down. */
  path: (string | number)[]
  schema: Schema
  isRequired: boolean
  /** The interface fixes the error message, and that message does not name the field. */
  hasFixedMessage: boolean
}

const nameOf = (path: readonly (string | number)[]) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')

/** Returns every field of an input schema, and the fields of list items where the example has an item. */
function fieldsOf(
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
function withField(input: unknown, [key, ...rest]: Field['path'], value: unknown): unknown {
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

function typesOf(schema: Schema): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(typesOf)
  if (schema.enum) return ['enum']
  return schema.type ? [schema.type] : ['any']
}

const wrongValues: Record<string, fc.Arbitrary<unknown>> = {
  string: fc.string(),
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  null: fc.constant(null),
  array: fc.array(fc.jsonValue(), { maxLength: 3 }),
  object: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
}

/** Returns values that the field refuses, such as other JSON types or a fraction; undefined if it accepts any type. */
function wrongFor(schema: Schema): fc.Arbitrary<unknown> | undefined {
  const accepted = new Set(
    typesOf(schema).map((type) => (type === 'enum' ? 'string' : type === 'integer' ? 'number' : type)),
  )
  if (accepted.has('any')) return undefined
  const others = Object.entries(wrongValues).filter(([type]) => !accepted.has(type))
  const wrong = others.map(([, values]) => values)
  if (typesOf(schema).includes('integer')) wrong.push(fc.constantFrom(1.5, -0.1))
  if (typesOf(schema).includes('enum')) wrong.push(fc.constant('no such choice'))
  return fc.oneof(...wrong)
}

/** Reads all rows of all tables. */
async function readAllRows(server: TestServer): Promise<unknown> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
    server.database.read,
  )
  const found: Record<string, unknown> = {}
  for (const { name } of rows) {
    found[name] = (await sql`select * from ${sql.table(name)}`.execute(server.database.read)).rows
  }
  return found
}

describe('[0.3] the type of every field', () => {
  const server = useServer('sqlite')
  const runs = 10

  const entries = table.filter(({ operation, version }) => version === operation.versions.at(-1))

  test.each(entries)(
    '[0.3] [0.3.1] $name refuses a wrong type or a missing required field, names the field unless its message is fixed, and changes nothing',
    async (entry) => {
      const tenant = await given.tenant(server)
      const example = given.exampleFor(tenant, entry.operation)
      const headers = given.headersFor(tenant, entry.operation.access)
      const before = await readAllRows(server)
      for (const field of fieldsOf(entry.operation.input, example)) {
        if (isCredential(entry, field)) continue
        const wrong = wrongFor(field.schema)
        if (!wrong) continue
        await fc.assert(
          fc.asyncProperty(wrong, async (value) => {
            const data = withField(example, field.path, value)
            const { status, body } = await server.post(entry.path, { data }, headers)
            expect({ status, code: body.error?.status, value }).toEqual({
              status: 400,
              code: 'INVALID_ARGUMENT',
              value,
            })
            if (!field.hasFixedMessage) expect(body.error.message).toContain(nameOf(field.path))
          }),
          { numRuns: runs },
        )
        if (!field.isRequired && !field.hasFixedMessage && field.schema.minLength) {
          const data = withField(example, field.path, '')
          const { body } = await server.post(entry.path, { data }, headers)
          expect(body.error.message).toBe(`${nameOf(field.path)} must not be empty.`)
        }
        if (field.isRequired) {
          const { status, body } = await server.post(
            entry.path,
            { data: withField(example, field.path, undefined) },
            headers,
          )
          if (typeof field.path.at(-1) === 'number') continue
          expect({ status, code: body.error?.status }).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
          if (!field.hasFixedMessage) expect(body.error.message).toBe(`${nameOf(field.path)} is required.`)
        }
      }
      expect(await readAllRows(server)).toEqual(before)
    },
  )

  /** The server checks credentials in the body before it validates the input. */
  const isCredential = (entry: Entry, { path }: Field) =>
    entry.operation.access === 'body' && (path[0] === 'apiKey' || path[0] === 'authToken')
})
