import { isChosenId } from '@plenum/protocol'
import type { EditorRef } from '../../store/refs.ts'

/**
 * Returns the editor with a name such as `organization/document/editor`, whose three parts are percent-encoded. Undefined if
 * the name is malformed.
 */
export function parseEditorName(name: string): EditorRef | undefined {
  const parts = name.split('/').map(decoded)
  const [organizationId = '', documentId = '', editorId = ''] = parts
  return parts.length === 3 && parts.every(isChosenId) ? { organizationId, documentId, editorId } : undefined
}

/** The organization and the editor that a `docId` of one part stands for. */
const ySweet = { organizationId: 'y-sweet', editorId: 'default' }

/**
 * Returns the editor with a `docId` of Y-Sweet: the name of an editor, or the id of a document in the organization `y-sweet`.
 * Undefined if the id is malformed.
 */
export function parseDocId(docId: string): EditorRef | undefined {
  if (!docIdForm.test(docId)) return undefined
  return parseEditorName(docId.includes('/') ? docId : `${ySweet.organizationId}/${docId}/${ySweet.editorId}`)
}

/** Characters that a URL path keeps unchanged: clients compare the id in the answer with the id that they sent. */
const docIdForm = /^(?:[\w.~!*'()/-]|%[\dA-Fa-f]{2})+$/

/** The message for a malformed `docId`. */
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

/** Three ids of 256 characters. Each character may have four bytes, and each encoded byte takes three characters. */
export const maxEditorNameLength = 3 * 256 * 12 + 2

/** The message for a malformed name. */
export const namePattern =
  'The name of an editor is organizationId/documentId/editorId, each percent-encoded.'
