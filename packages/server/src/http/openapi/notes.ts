import type { Operation } from '@plenum/protocol'
import type { Schema } from '../../platform/validation/explain.ts'

/** The properties of an operation that its schemas do not show, as sentences for callers. */
export function notesOf({ requires, size, errorCode }: Operation): string[] {
  const notes: string[] = []
  if (requires) notes.push(`Requires the option \`${requires}\` of the API key, which is on by default.`)
  if (size === 'large') notes.push('The body can have up to 10 MiB.')
  if (errorCode) notes.push('Its errors have a field `code` with the value of `status`.')
  return notes
}

/** What v1 ignores, as a sentence for callers. */
export function notesOfV1(input: object): string[] {
  const ignored = [...ignoredUnderV1(input as Schema, '')].map((path) => `\`${path}\``)
  if (ignored.length === 0) return []
  const list = ignored.length === 1 ? ignored[0] : `${ignored.slice(0, -1).join(', ')} and ${ignored.at(-1)}`
  return [`v1 ignores ${list}.`]
}

/** The paths of the fields that v1 ignores, without those inside them. */
function* ignoredUnderV1(schema: Schema, path: string): Generator<string> {
  const { items, anyOf = [], properties = {} } = schema
  if (items) yield* ignoredUnderV1(items, `${path}[]`)
  for (const one of anyOf) yield* ignoredUnderV1(one, path)
  for (const [key, field] of Object.entries(properties)) {
    const inner = path === '' ? key : `${path}.${key}`
    if (field['x-since'] === 'v2') yield inner
    else yield* ignoredUnderV1(field, inner)
  }
}
