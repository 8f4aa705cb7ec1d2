import * as protocol from '@plenum/protocol'
import { describe } from './field-descriptions.ts'
import type { Field } from './fields.ts'
import { comment } from './js-doc.ts'

/** Names that would hide those of browsers. */
const renamed: Record<string, string> = { Document: 'DocumentRecord', Notification: 'NotificationRecord' }

/** The objects that the protocol exports under a name, by that name; `Done` has but one field. */
export const resources = new Map(
  Object.entries(protocol as unknown as Record<string, Field>).flatMap(([name, schema]) =>
    schema?.properties && name !== 'Done' ? [[renamed[name] ?? name, schema] as const] : [],
  ),
)
/** Optional fields hold a copy of their schema, but the same properties. */
const names = new Map([...resources].map(([name, { properties }]) => [properties, name]))
export const resourceName = ({ properties }: Field) => properties && names.get(properties)

interface Context {
  /** Collects the names of resources that the text uses. */
  used: Set<string>
  /** Of the interface and its fields down to here, with dots. */
  path: string
  indent: string
}

/** The declaration of an interface with the fields of the schema. */
export function interfaceText(name: string, schema: Field, used: Set<string>): string {
  const text = objectText(schema, { used, path: name, indent: '' })
  return typeof schema.additionalProperties === 'object'
    ? `export type ${name} = ${text}\n`
    : `export interface ${name} ${text}\n`
}

export function typeText(schema: Field, context: Context): string {
  const { 'x-typescript': written, enum: choices, anyOf, type, items, additionalProperties } = schema
  if (written !== undefined) return written
  const name = resourceName(schema)
  if (name !== undefined) {
    context.used.add(name)
    return name
  }
  if (choices) return choices.map((choice) => `'${String(choice)}'`).join(' | ')
  if (anyOf) return anyOf.map((one) => typeText(one, context)).join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeText({ type: one }, context)).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayText(items ?? {}, context)
    case 'object':
      if (schema.properties) return objectText(schema, context)
      if (typeof additionalProperties === 'object')
        return `Record<string, ${typeText(additionalProperties, context)}>`
      return 'Record<string, unknown>'
    default:
      throw new Error(`There is no TypeScript type for ${JSON.stringify(schema)}. Give it x-typescript.`)
  }
}

function arrayText(items: Field, context: Context): string {
  if (items.type === undefined && !items.anyOf) return 'unknown[]'
  const text = typeText(items, context)
  return items.enum || items.anyOf || Array.isArray(items.type) ? `(${text})[]` : `${text}[]`
}

function objectText(schema: Field, context: Context): string {
  const { properties = {}, required = [], additionalProperties } = schema
  const indent = `${context.indent}  `
  const fields = Object.entries(properties).map(([key, field]) => {
    const path = `${context.path}.${key}`
    const name = /^\w+$/.test(key) ? key : `'${key}'`
    const mark = required.includes(key) ? '' : '?'
    const type = typeText(field, { ...context, path, indent })
    return `${comment([describe(path, field)], indent)}${indent}${name}${mark}: ${type}\n`
  })
  if (additionalProperties === true) {
    fields.push(
      `${comment(['Other keys are kept as they are sent.'], indent)}${indent}[key: string]: unknown\n`,
    )
  }
  const text = `{\n${fields.join('')}${context.indent}}`
  // Not an index signature inside: it would have to allow undefined, because the fields may be absent.
  return typeof additionalProperties === 'object'
    ? `${text} & Record<string, ${typeText(additionalProperties, context)}>`
    : text
}
