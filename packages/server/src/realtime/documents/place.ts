import { ClientId } from '@plenum/protocol'
import { Compile } from 'typebox/compile'
import type { Place } from '../../store/editors/editors.ts'

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

/** Where an id of Y-Sweet, which has one part, leads. */
const ySweet = { organizationId: 'y-sweet', editorId: 'default' }

/** The editor that a `docId` of Y-Sweet means: a name of three parts, or a document of the organization `y-sweet`. */
export function placeOfDocId(docId: string): Place | undefined {
  if (!docIdForm.test(docId)) return undefined
  return placeIn(docId.includes('/') ? docId : `${ySweet.organizationId}/${docId}/${ySweet.editorId}`)
}

/** What the path of an address leaves as it is: clients compare the id that they get with the one that they have. */
const docIdForm = /^(?:[\w.~!*'()/-]|%[\dA-Fa-f]{2})+$/

export const docIdPattern =
  'docId must be one id or organizationId/documentId/editorId, each part percent-encoded.'

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
