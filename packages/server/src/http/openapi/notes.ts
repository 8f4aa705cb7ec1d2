import type { Operation } from '@plenum/protocol'

/** The properties of an operation that its schemas do not show, as sentences for callers. */
export function notesOf({ requires, size, errorCode }: Operation): string[] {
  const notes: string[] = []
  if (requires) notes.push(`Requires the option \`${requires}\` of the API key, which is on by default.`)
  if (size === 'large') notes.push('The body can have up to 10 MiB.')
  if (errorCode) notes.push('Its errors have a field `code` with the value of `status`.')
  return notes
}
