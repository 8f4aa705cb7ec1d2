import * as protocol from '@plenum/protocol'
import * as messages from '@plenum/protocol/messages'
import { type Field, typeNotes } from './field-notes.ts'
import { comment } from './js-doc.ts'

/** New names for schemas whose own names would shadow types of browsers and of React. */
const renamed: Record<string, string> = {
  Activity: 'ActivityRecord',
  Document: 'DocumentRecord',
  Notification: 'NotificationRecord',
}

/** Returns the value by which a named schema is recognized. Optional and described fields are copies that share it. */
const identityOf = (schema: Field): unknown => schema.properties ?? schema.enum ?? schema['x-typescript']

/** The schemas that the protocol exports, by name: objects, lists of choices and types written by hand. */
export const namedSchemas = new Map(
  Object.entries({ ...protocol, ...messages } as unknown as Record<string, Field>).flatMap(([name, schema]) =>
    identityOf(schema) === undefined ? [] : [[renamed[name] ?? name, schema] as const],
  ),
)
const names = new Map([...namedSchemas].map(([name, schema]) => [identityOf(schema), name]))

export const schemaName = (schema: Field): string | undefined => names.get(identityOf(schema))

/** Returns the declaration of a type, and adds the names of the named schemas that it uses to `used`. */
export function declarationText(name: string, schema: Field, used: Set<string>): string {
  if (!schema.properties)
    return `${comment([schema.description ?? ''], '')}export type ${name} = ${writtenText(schema)}\n`
  const text = objectText(name, schema, used)
  return typeof schema.additionalProperties === 'object'
    ? `export type ${name} = ${text}\n`
    : `export interface ${name} ${text}\n`
}

/**
 * Returns the type of a field or an answer. The type of a named schema is its name, which is added to `used`. `path` names
 * the field in error messages.
 */
export function typeText(path: string, schema: Field, used: Set<string>): string {
  const name = schemaName(schema)
  if (name !== undefined) {
    used.add(name)
    return name
  }
  const { 'x-typescript': written, enum: choices, anyOf, type, items, additionalProperties } = schema
  if (written !== undefined || choices) return writtenText(schema)
  if (anyOf) return anyOf.map((one) => typeText(path, one, used)).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayText(path, items ?? {}, used)
    case 'object':
      if (schema.properties)
        throw new Error(`${path} is an object without a name. Export its schema from packages/protocol.`)
      if (typeof additionalProperties === 'object')
        return `Record<string, ${typeText(path, additionalProperties, used)}>`
      return 'Record<string, unknown>'
    default:
      throw new Error(`${path} has no TypeScript type. Give its schema x-typescript.`)
  }
}

const writtenText = ({ 'x-typescript': written, enum: choices = [] }: Field): string =>
  written ?? choices.map((choice) => `'${String(choice)}'`).join(' | ')

function arrayText(path: string, items: Field, used: Set<string>): string {
  const text = typeText(path, items, used)
  return text.includes(' | ') ? `(${text})[]` : `${text}[]`
}

function objectText(path: string, schema: Field, used: Set<string>): string {
  const { properties = {}, required = [], additionalProperties } = schema
  const fields = Object.entries(properties).map(([key, field]) => {
    const name = /^\w+$/.test(key) ? key : `'${key}'`
    const mark = required.includes(key) ? '' : '?'
    const type = typeText(`${path}.${key}`, field, used)
    return `${comment([typeNotes(field)], '  ')}  ${name}${mark}: ${type}\n`
  })
  if (additionalProperties === true) {
    fields.push(`${comment(['Further keys are stored as sent.'], '  ')}  [key: string]: unknown\n`)
  }
  const text = `{\n${fields.join('')}}`
  // An index signature inside the object would have to allow undefined, because the fields are optional.
  return typeof additionalProperties === 'object'
    ? `${text} & Record<string, ${typeText(path, additionalProperties, used)}>`
    : text
}
