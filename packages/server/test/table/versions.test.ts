import { describe, expect, test } from 'vitest'
import { copyOf, fill, normalized, stored } from '../support/data/filled-tenant.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'
import type { Field } from '../support/table/schema-fields.ts'
import { table } from '../support/table/table.ts'

type Schema = Field['schema']

/** Returns the input with `value` in every field that v1 ignores; undefined if the schema has no such field. */
function withNewerFields(schema: Schema, input: unknown, value: unknown): unknown {
  if (schema.anyOf) {
    const choices = schema.anyOf.map((one) => withNewerFields(one, input, value))
    return choices.find((choice) => choice !== undefined)
  }
  if (schema.type === 'array' && schema.items && Array.isArray(input)) {
    const changed = input.map((item) => withNewerFields(schema.items as Schema, item, value))
    return changed.includes(undefined) ? undefined : changed
  }
  if (schema.type !== 'object' || !schema.properties) return undefined
  if (input === undefined) return undefined
  const record = input as Record<string, unknown>
  const entries = Object.entries(schema.properties).flatMap(([key, field]): [string, unknown][] => {
    if (field['x-since'] === 'v2') return [[key, value]]
    const inner = withNewerFields(field, record[key], value)
    return inner === undefined ? [] : [[key, inner]]
  })
  return entries.length === 0 ? undefined : { ...record, ...Object.fromEntries(entries) }
}

const ignoring = table.filter(
  ({ version, operation }) =>
    version === 'v1' && withNewerFields(operation.input, operation.example.input, true) !== undefined,
)
/** Values of every type, values that v2 accepts, and ids that exist. */
const values = [true, false, 1, 0, 1.5, 'asc', 'viewer', 'designs', 'custom', '', null, [], {}, { access: 1 }]

/** The tables that are written by operations with fields that v1 ignores. */
const tables =
  'organizations folders documents users grants user_groups notifications annotations comments annotation_users'.split(
    ' ',
  )

describe('[0.1.4] versions', () => {
  const server = useServer('sqlite', { isOwn: true })

  let original: given.Tenant | undefined
  /** A tenant with the objects that all examples name. */
  const filled = async () => {
    if (!original) {
      original = await given.tenant(server)
      await fill(server, original)
    }
    return copyOf(server, original)
  }

  test('[0.1.4] exactly these operations have fields that v1 ignores', () => {
    expect(ignoring.map(({ name }) => name).sort()).toEqual([
      'commentAnnotations.add',
      'commentAnnotations.get',
      'commentAnnotations.update',
      'comments.add',
      'comments.update',
      'documents.add',
      'documents.get',
      'folders.get',
      'folders.updateAccess',
      'notifications.add',
      'notifications.get',
      'notifications.getConfig',
      'notifications.update',
      'organizations.get',
      'userGroups.add',
      'users.add',
      'users.get',
      'users.update',
    ])
  })

  test.each(ignoring)('[0.1.4] $path ignores values in a field that only v2 has', async (entry) => {
    const { operation, path } = entry
    const call = async (tenant: given.Tenant, data: unknown) => {
      const { status, body } = await server.post(path, { data }, tenant.headers)
      const rows = await stored(server, tenant, tables)
      const written = Object.values(rows).flatMap((list) => list.map((row) => JSON.parse(row as string)))
      return normalized({ status, body, written }, tenant)
    }
    const tenant = await filled()
    const input = given.exampleFor(tenant, operation)
    const expected = await call(tenant, input)
    // Reads get all values, and writes every third, in turns.
    const tried = values.filter(
      (_, i) => operation.effect === 'read' || (i + ignoring.indexOf(entry)) % 3 === 0,
    )
    for (const value of tried) {
      const other = operation.effect === 'read' ? tenant : await filled()
      const answer = await call(other, withNewerFields(operation.input, input, value))
      expect({ value, answer }).toEqual({ value, answer: expected })
    }
  })

  test('[0.1.4] [9.2] an unusable maxDepth is refused under v2 and ignored under v1', async () => {
    const { headers } = await given.tenant(server)
    const ask = async (version: string) =>
      (
        await server.post(
          `/${version}/organizations/folders/get`,
          { data: { organizationId: 'o', maxDepth: 0 } },
          headers,
        )
      ).status
    expect([await ask('v1'), await ask('v2')]).toEqual([200, 400])
  })
})
