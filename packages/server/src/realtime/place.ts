import { ClientId } from '@plenum/protocol'
import { Compile } from 'typebox/compile'
import type { Place } from '../store/editors.ts'

const id = Compile(ClientId)

/** What an id must be, for messages that begin with its name. */
export const idPattern =
  'must have 1 to 256 characters, must not contain control characters and must not be "." or "..".'

export const isId = (text: string): boolean => id.Check(text)

/** The editor that a name such as `organization/document/editor` means. Each of its three parts is percent-encoded. */
export function placeIn(name: string): Place | undefined {
  const parts = name.split('/').map(decoded)
  const [organizationId = '', documentId = '', editorId = ''] = parts
  return parts.length === 3 && parts.every(isId) ? { organizationId, documentId, editorId } : undefined
}

/** A part that is not percent-encoded is taken as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The longest name: each of 768 characters may have four bytes, and each byte takes three characters. */
export const maxNameLength = 3 * 256 * 12 + 2

export const namePattern =
  'The name of an editor is organizationId/documentId/editorId, each percent-encoded.'
