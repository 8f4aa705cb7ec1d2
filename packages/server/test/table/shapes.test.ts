import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Schema } from '../../src/calls/explain.ts'
import * as given from '../support/given.ts'
import { type TestServer, useServer } from '../support/harness.ts'
import { type Entry, table } from '../support/table.ts'

interface Field {
  /** Keys and indexes from `data` down. */
  path: (string | number)[]
  schema: Schema
  required: boolean
  /** The sentence is fixed by the interface and does not name the field. */
  worded: boolean
}

const nameOf = (path: readonly (string | number)[]) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')

/** Every field of a declaration that the example fills, and those it could. */
function fieldsOf(
  schema: Schema,
  value: unknown,
  path: Field['path'] = [],
  required = true,
  inWorded = false,
): Field[] {
  const worded =
    inWorded ||
    schema['x-missing'] !== undefined ||
    (schema.type === 'object' && schema['x-invalid'] !== undefined)
  const self = path.length === 0 ? [] : [{ path, schema, required, worded }]
  if (schema.type === 'object' && schema.properties) {
    const record = (value ?? {}) as Record<string, unknown>
    return [
      ...self,
      ...Object.entries(schema.properties).flatMap(([key, field]) =>
        fieldsOf(field, record[key], [...path, key], schema.required?.includes(key) ?? false, worded),
      ),
    ]
  }
  if (schema.type === 'array' && schema.items && Array.isArray(value) && value.length > 0) {
    return [...self, ...fieldsOf(schema.items, value[0], [...path, 0], true, worded)]
  }
  return self
}

/** The example with one field replaced; what lies on the way to it is created. */
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

/** Values of every JSON type but those that the field accepts. */
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

/** All rows of all tables. */
async function everything(server: TestServer): Promise<unknown> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
    server.database.read,
  )
  const found: Record<string, unknown> = {}
  for (const { name } of rows) {
    found[name] = (await sql`select * from ${sql.table(name)}`.execute(server.database.read)).rows
  }
  return found
}

describe('[0.3] the shape of every field', () => {
  const server = useServer('sqlite')
  const runs = 10

  const entries = table.filter(({ operation, version }) => version === operation.versions.at(-1))

  test.each(entries)(
    '[0.3] $name: a wrong type is INVALID_ARGUMENT, names the field and changes nothing',
    async (entry) => {
      const tenant = await given.tenant(server)
      const example = given.exampleFor(tenant, entry.operation)
      const headers = given.headersFor(tenant, entry.operation.access)
      const before = await everything(server)
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
            if (!field.worded) expect(body.error.message).toContain(nameOf(field.path))
          }),
          { numRuns: runs },
        )
        if (!field.required && !field.worded && field.schema.minLength) {
          const data = withField(example, field.path, '')
          const { body } = await server.post(entry.path, { data }, headers)
          expect(body.error.message).toBe(`${nameOf(field.path)} must not be empty.`)
        }
        if (field.required) {
          const { status, body } = await server.post(
            entry.path,
            { data: withField(example, field.path, undefined) },
            headers,
          )
          if (typeof field.path.at(-1) === 'number') continue
          expect({ status, code: body.error?.status }).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
          if (!field.worded) expect(body.error.message).toBe(`${nameOf(field.path)} is required.`)
        }
      }
      expect(await everything(server)).toEqual(before)
    },
  )

  /** Credentials inside the body are judged before the shape. */
  const isCredential = (entry: Entry, { path }: Field) =>
    entry.operation.access === 'body' && (path[0] === 'apiKey' || path[0] === 'authToken')
})
