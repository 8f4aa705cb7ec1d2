import { ClientId } from '@plenum/protocol'
import type { Schema } from '../../packages/server/src/calls/explain.ts'
import { capital } from '../../packages/server/src/http/openapi/schemas.ts'

/** A schema as declared: with the wording of our messages, and descriptions. */
export type Field = Omit<Schema, 'properties' | 'items' | 'anyOf' | 'additionalProperties'> & {
  properties?: Record<string, Field>
  items?: Field
  anyOf?: readonly Field[]
  additionalProperties?: Field | boolean
  description?: string
  /** The TypeScript type, where the schema is wider than what callers may send. */
  'x-typescript'?: string
}

/** The fields of an input as a Markdown table, nested ones by their path; empty when there are none. */
export function inputTable(schema: object): string {
  return table(
    ['Field', 'Type', 'Required', 'Notes'],
    rowsOf(schema as Field, '').map(({ name, type, required, notes, rest }) => [
      `\`${name}\``,
      type,
      required ? 'yes' : '',
      rest ? 'Further keys are kept.' : notes,
    ]),
  )
}

/** The same for an output, which stands at `path`. */
export function outputTable(schema: object, path: string): string {
  return table(
    ['Field', 'Type', 'Notes'],
    rowsOf(schema as Field, path).map(({ name, type, required, notes, rest }) => [
      `\`${name}\``,
      type,
      rest ? 'Further keys, as they were stored.' : required ? notes : `May be absent. ${notes}`,
    ]),
  )
}

const line = (cells: string[]) => `| ${cells.join(' | ')} |`.replace(/ {2,}/g, ' ')

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

interface Row {
  name: string
  type: string
  required: boolean
  notes: string
  /** Stands for the keys that the schema does not name. */
  rest?: true
}

function rowsOf(schema: Field, path: string): Row[] {
  const inner = innerOf(schema)
  if (inner) return rowsOf(inner.schema, `${path}${inner.mark}`)
  if (!schema.properties) return []
  const below = (key: string) => (path ? `${path}.${key}` : key)
  const rows = Object.entries(schema.properties).flatMap(([key, field]): Row[] => {
    const required = schema.required?.includes(key) ?? false
    return [
      { name: below(key), type: typeOf(field), required, notes: notesOf(field) },
      ...rowsOf(field, below(key)),
    ]
  })
  if (schema.additionalProperties !== true) return rows
  return [...rows, { name: below('…'), type: 'any', required: false, notes: '', rest: true }]
}

/** What stands inside a list, a map or the alternative that has fields. */
function innerOf({
  items,
  additionalProperties,
  anyOf,
  properties,
}: Field): { schema: Field; mark: string } | undefined {
  if (items) return { schema: items, mark: '[]' }
  if (!properties && typeof additionalProperties === 'object')
    return { schema: additionalProperties, mark: '.<id>' }
  const alternative = anyOf?.find((one) => rowsOf(one, '').length > 0)
  return alternative && { schema: alternative, mark: '' }
}

export function typeOf(schema: object): string {
  const { type, items, additionalProperties, properties, anyOf } = schema as Field
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (Array.isArray(type)) return type.join(' or ')
  if (type === 'array') return items ? `array of ${plural(typeOf(items))}` : 'array'
  if (type === 'object' && !properties && typeof additionalProperties === 'object') {
    return `map of ${plural(typeOf(additionalProperties))}`
  }
  return type ?? 'any'
}

const plural = (type: string) =>
  type === 'any'
    ? 'anything'
    : type.replace(/^(\w+?)(?=( or | of |$))/, '$1s').replace(/ or (\w+)$/, ' or $1s')

function notesOf(schema: Field): string {
  const { description } = schema
  const parts = [...(description ? [description] : []), ...limitsOf(schema)]
  return parts.map(sentence).join(' ').replaceAll('|', '\\|').replaceAll('\n', ' ')
}

export const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

export function limitsOf(schema: Field): string[] {
  const { enum: choices, anyOf, minItems, maxItems, minimum, maximum, maxLength, pattern, items } = schema
  if (anyOf) return [...new Set(anyOf.flatMap(limitsOf))]
  if (choices) return [`One of ${choices.map((choice) => `\`${String(choice)}\``).join(', ')}`]
  if (items)
    return [
      ...bounds(minItems, maxItems, 'items'),
      ...limitsOf(items).map((limit) => `Each: ${uncapital(limit)}`),
    ]
  if (pattern === clientIdPattern) return ['An [id](README.md#ids)']
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  const limits = [...bounds(minimum, most, ''), ...bounds(undefined, maxLength, 'characters')]
  return pattern !== undefined && schema['x-invalid'] ? [...limits, capital(schema['x-invalid'])] : limits
}

const clientIdPattern = (ClientId as Field).pattern

const number = (value: number) => value.toLocaleString('en-US')

function bounds(least: number | undefined, most: number | undefined, unit: string): string[] {
  const of = (text: string) => [`${text} ${unit}`.trim()]
  if (most === undefined) return least === undefined ? [] : of(`At least ${number(least)}`)
  return least === undefined ? of(`At most ${number(most)}`) : of(`${number(least)} to ${number(most)}`)
}

const uncapital = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
