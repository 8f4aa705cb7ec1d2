import { expect, test } from 'vitest'
import { type Operation, operations } from './index.ts'
import { type ClientMessageDeclaration, clientMessages, serverMessages } from './messages/index.ts'

interface Field {
  description?: string
  properties?: Record<string, Field>
  items?: Field
  anyOf?: readonly Field[]
  additionalProperties?: Field | boolean
}

/** The paths of the fields inside a schema that have no description, and the number of all fields. */
function inspect(schema: Field, path: string): { undescribed: string[]; count: number } {
  const inner: [string, Field][] = [
    ...(schema.items ? [[`${path}[]`, schema.items] as [string, Field]] : []),
    ...(schema.anyOf ?? []).map((one): [string, Field] => [path, one]),
    ...(typeof schema.additionalProperties === 'object'
      ? [[`${path}.<id>`, schema.additionalProperties] as [string, Field]]
      : []),
  ]
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]): [string, Field] => [
    `${path}.${key}`,
    field,
  ])
  const own = fields.flatMap(([name, { description }]) => (description?.endsWith('.') ? [] : [name]))
  const below = [...inner, ...fields].map(([name, field]) => inspect(field, name))
  return {
    undescribed: [...own, ...below.flatMap(({ undescribed }) => undescribed)],
    count: fields.length + below.reduce((sum, { count }) => sum + count, 0),
  }
}

const table = Object.entries(operations as Record<string, Record<string, Operation>>).flatMap(
  ([family, verbs]) =>
    Object.entries(verbs).map(([verb, operation]): [string, Operation] => [`${family}.${verb}`, operation]),
)

test.each(table)('[K14] %s describes every field of its input and output', (_name, { input, output }) => {
  expect([...inspect(input, 'input').undescribed, ...inspect(output, 'output').undescribed]).toEqual([])
})

test('[R10.8] every message has a summary, and every field of messages and answers has a description', () => {
  const messages = Object.entries<Omit<ClientMessageDeclaration, 'answers'>>({
    ...clientMessages,
    ...serverMessages,
  })
  expect(messages.filter(([, { summary }]) => !summary.endsWith('.')).map(([type]) => type)).toEqual([])
  const fields = messages.flatMap(([type, { fields, done }]) => [
    inspect(fields, type),
    inspect(done?.fields ?? {}, `done of ${type}`),
  ])
  expect(fields.flatMap(({ undescribed }) => undescribed)).toEqual([])
  expect(fields.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(80)
})

test('[K14] the check of descriptions reaches nested fields', () => {
  const described = { description: 'A field.' }
  const nested: Field = {
    properties: {
      list: { ...described, items: { properties: { inner: {} } } },
      map: { ...described, additionalProperties: { properties: { inner: {} } } },
      choice: { ...described, anyOf: [{ properties: { inner: {} } }] },
    },
  }
  expect(inspect(nested, 'input')).toEqual({
    undescribed: ['input.list[].inner', 'input.map.<id>.inner', 'input.choice.inner'],
    count: 6,
  })
  const all = table.flatMap(([, { input, output }]) => [inspect(input, 'input'), inspect(output, 'output')])
  expect(all.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(400)
})
