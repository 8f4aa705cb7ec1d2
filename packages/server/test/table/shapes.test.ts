import type { ApiError } from '@plenum/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createInputCheck } from '../../src/calls/input/validate.ts'
import type { Schema } from '../../src/platform/validation/explain.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'
import { type Field, fieldsOf, nameOf, withField } from '../support/table/schema-fields.ts'
import { rounds } from '../support/random/effort.ts'
import { readAllRows } from '../support/data/all-rows.ts'
import { type Entry, table } from '../support/table/table.ts'

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

/** Returns the error of a check. A body has no fields that are undefined. */
function errorOf(check: () => void): ApiError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error as ApiError
  }
}

describe('[0.3] the type of every field', () => {
  const server = useServer('sqlite', { isOwn: true })
  /** The check that the server runs before it calls an operation gets this many values for each field. */
  const runs = rounds(5)

  let tenant: given.Tenant | undefined

  const entries = table.filter(({ operation, version }) => version === operation.versions.at(-1))

  test.each(entries)(
    '[0.3] [0.3.1] $name refuses a wrong type or a missing required field, names the field unless its message is fixed, and changes nothing',
    async (entry) => {
      // Refused requests change nothing, so all operations can have the same tenant.
      tenant ??= await given.tenant(server)
      const example = given.exampleFor(tenant, entry.operation)
      const headers = given.headersFor(tenant, entry.operation.access)
      const before = await readAllRows(server)
      const check = createInputCheck(entry.operation.input)
      for (const field of fieldsOf(entry.operation.input, example)) {
        if (isCredential(entry, field)) continue
        const wrong = wrongFor(field.schema)
        if (!wrong) continue
        const name = nameOf(field.path)
        fc.assert(
          fc.property(wrong, (value) => {
            const error = errorOf(() => check(withField(example, field.path, value)))
            // Not `expect`, which is slow: fast-check shows the value.
            if (error?.status !== 'INVALID_ARGUMENT') return false
            return field.hasFixedMessage || error.message.includes(name)
          }),
          { numRuns: runs },
        )
        const [value] = fc.sample(wrong, 1)
        const { status, body } = await server.post(
          entry.path,
          { data: withField(example, field.path, value) },
          headers,
        )
        expect({ status, code: body.error?.status, value }).toEqual({
          status: 400,
          code: 'INVALID_ARGUMENT',
          value,
        })
        if (!field.hasFixedMessage) expect(body.error.message).toContain(nameOf(field.path))
        if (!field.isRequired && !field.hasFixedMessage && field.schema.minLength) {
          const error = errorOf(() => check(withField(example, field.path, '')))
          expect(error?.message).toBe(`${nameOf(field.path)} must not be empty.`)
        }
        if (field.isRequired && typeof field.path.at(-1) !== 'number') {
          const error = errorOf(() => check(withField(example, field.path, undefined)))
          expect(error).toMatchObject({ status: 'INVALID_ARGUMENT' })
          if (!field.hasFixedMessage) expect(error?.message).toBe(`${nameOf(field.path)} is required.`)
        }
      }
      expect(await readAllRows(server)).toEqual(before)
    },
  )

  /** The server checks credentials in the body before it validates the input. */
  const isCredential = (entry: Entry, { path }: Field) =>
    entry.operation.access === 'body' && (path[0] === 'apiKey' || path[0] === 'authToken')
})
