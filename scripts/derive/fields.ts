import { type Field, inputNotes, outputNotes } from './field-notes.ts'

/** Returns the fields of an input as a Markdown table, nested fields by their path. Returns '' if there are no fields. */
export function inputTable(schema: object): string {
  return table(
    ['Field', 'Type', 'Required', 'Notes'],
    rowsOf(schema as Field, '').map(({ name, type, isRequired, field }) => [
      `\`${name}\``,
      type,
      isRequired ? 'yes' : '',
      field ? inputNotes(field) : 'Further keys are stored as sent.',
    ]),
  )
}

/** Returns the fields of an output as a Markdown table. The path of each field starts with `path`. */
export function outputTable(schema: object, path: string): string {
  return table(
    ['Field', 'Type', 'Notes'],
    rowsOf(schema as Field, path).map(({ name, type, isRequired, field }) => [
      `\`${name}\``,
      type,
      field ? outputNotes(field, isRequired) : 'Further keys, as stored.',
    ]),
  )
}

const line = (cells: string[]) =>
  `| ${cells.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`.replace(
    / {2,}/g,
    ' ',
  )

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

interface Row {
  name: string
  type: string
  isRequired: boolean
  /** Absent in the row for further keys, which the schema allows but does not name. */
  field?: Field
}

function rowsOf(schema: Field, path: string): Row[] {
  const inner = innerOf(schema)
  if (inner) return rowsOf(inner.schema, `${path}${inner.mark}`)
  if (!schema.properties) return []
  const below = (key: string) => (path ? `${path}.${key}` : key)
  const rows = Object.entries(schema.properties).flatMap(([key, field]): Row[] => {
    const isRequired = schema.required?.includes(key) ?? false
    return [{ name: below(key), type: typeOf(field), isRequired, field }, ...rowsOf(field, below(key))]
  })
  if (schema.additionalProperties !== true) return rows
  return [...rows, { name: below('…'), type: 'any', isRequired: false }]
}

/** Returns the schema inside a list or a map, or the alternative of a union that has fields. */
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
  const { items, additionalProperties, properties, anyOf, 'x-type': sent, type = sent } = schema as Field
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (typeof type === 'object') return type.join(' or ')
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
