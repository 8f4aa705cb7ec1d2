import { ChosenId } from '@plenum/protocol'
import type { Schema } from '../../packages/server/src/platform/validation/explain.ts'
import { capital } from '../../packages/server/src/http/openapi/schemas.ts'

/** A schema of the operation table, with our own keywords (`x-…`). */
export type Field = Omit<Schema, 'properties' | 'items' | 'anyOf' | 'additionalProperties'> & {
  properties?: Record<string, Field>
  items?: Field
  anyOf?: readonly Field[]
  additionalProperties?: Field | boolean
  description?: string
  /** The types that callers may send, where validation accepts any value. */
  'x-type'?: readonly string[]
  /** The TypeScript type, where the schema accepts more than callers may send. */
  'x-typescript'?: string
}

/** Returns what a field of a request means, its choices and its limits. */
export const inputNotes = (field: Field): string =>
  sentences([meaningOf(field), ...choicesOf(field), ...limitsOf(field), ...versionOf(field)])

/** Returns what a field of an answer means, and its choices. Limits apply only to requests. */
export const outputNotes = (field: Field, isRequired: boolean): string =>
  sentences([isRequired ? '' : 'Optional', meaningOf(field), ...choicesOf(field)])

/** Returns the comment of a field in a type: what the field means, and its limits. The type itself shows the choices. */
export const typeNotes = (field: Field): string =>
  sentences([meaningOf(field), ...limitsOf(field).filter((limit) => !isIdLimit(limit)), ...versionOf(field)])

const sentences = (texts: string[]) =>
  texts
    .filter(Boolean)
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ')

const ignoredUnderV1 = 'Ignored under v1.'

const meaningOf = ({ description = '' }: Field) => description.replace(ignoredUnderV1, '').trim()

/** The note about v1 is separate from the meaning, so that it comes last, after the limits. */
const versionOf = (field: Field) => (field['x-since'] === 'v2' ? [ignoredUnderV1] : [])

function choicesOf({ enum: choices, anyOf = [] }: Field): string[] {
  if (choices) return [`One of ${choices.map((choice) => `\`${String(choice)}\``).join(', ')}`]
  return anyOf.flatMap(choicesOf)
}

const idLimit = 'An [id](README.md#ids)'
const isIdLimit = (limit: string) => limit.toLowerCase().includes(idLimit.toLowerCase())
const { pattern: idPattern } = ChosenId as Field

function limitsOf(field: Field): string[] {
  const { anyOf, minItems, maxItems, minimum, maximum, maxLength, pattern, items } = field
  if (anyOf) return [...new Set(anyOf.flatMap(limitsOf))]
  if (items)
    return [
      ...range(minItems, maxItems, ' items'),
      ...limitsOf(items).map((limit) => `Each: ${uncapital(limit)}`),
    ]
  if (pattern === idPattern) return [idLimit]
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  const limits = [...range(minimum, max, ''), ...range(undefined, maxLength, ' characters')]
  return pattern !== undefined && field['x-invalid'] ? [...limits, capital(field['x-invalid'])] : limits
}

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  if (min !== undefined && max !== undefined) return [`From ${number(min)} to ${number(max)}${unit}`]
  if (max !== undefined) return [`At most ${number(max)}${unit}`]
  return min === undefined ? [] : [`At least ${number(min)}${unit}`]
}

const number = (value: number) => value.toLocaleString('en-US')

const uncapital = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
