import { ClientId } from '@plenum/protocol'
import { Compile } from 'typebox/compile'
import type { Place } from '../store/editors.ts'

const id = Compile(ClientId)

export const isId = (text: string): boolean => id.Check(text)

/** What a name such as `organization/document/editor` means; ids have no slash. */
export function placeIn(name: string): Place | undefined {
  const parts = name.split('/')
  const [organizationId = '', documentId = '', editorId = ''] = parts
  return parts.length === 3 && parts.every(isId) ? { organizationId, documentId, editorId } : undefined
}

export const namePattern = 'The name of an editor is organizationId/documentId/editorId.'
