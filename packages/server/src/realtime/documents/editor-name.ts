import { isClientId } from '@plenum/protocol'
import type { EditorRef } from '../../store/refs.ts'

/** The editor with a name such as `organization/document/editor`, whose three parts are percent-encoded. */
export function parseEditorName(name: string): EditorRef | undefined {
  const parts = name.split('/').map(decoded)
  const [organizationId = '', documentId = '', editorId = ''] = parts
  return parts.length === 3 && parts.every(isClientId) ? { organizationId, documentId, editorId } : undefined
}

/** The organization and the editor of a Y-Sweet document, whose `docId` has one part. */
const ySweet = { organizationId: 'y-sweet', editorId: 'default' }

/** The editor with a `docId` of Y-Sweet: a name of three parts, or a document of the organization `y-sweet`. */
export function parseDocId(docId: string): EditorRef | undefined {
  if (!docIdForm.test(docId)) return undefined
  return parseEditorName(docId.includes('/') ? docId : `${ySweet.organizationId}/${docId}/${ySweet.editorId}`)
}

/** Characters that a URL path keeps unchanged: clients compare the id in the answer with the one they sent. */
const docIdForm = /^(?:[\w.~!*'()/-]|%[\dA-Fa-f]{2})+$/

export const docIdPattern =
  'docId must be one id or organizationId/documentId/editorId, each part percent-encoded.'

/** A part that is not valid percent-encoding is used unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Each of 768 characters may have four bytes, and each byte takes three characters. */
export const maxEditorNameLength = 3 * 256 * 12 + 2

export const namePattern =
  'The name of an editor is organizationId/documentId/editorId, each percent-encoded.'
