import Type from 'typebox'
import { choice, ClientId, Timestamp } from '../base/fields.ts'

export const CrdtType = choice(['text', 'map', 'array', 'xml'])

/** What an editor holds: a string for text and xml, an object for map, an array for array. */
export type CrdtData = string | Record<string, unknown> | unknown[]
const description = 'A string for `text` and `xml`, an object for `map`, an array for `array`.'
/** As it is sent: operations have messages of their own for data that does not fit the type of the editor. */
export const CrdtData = Type.Unsafe<CrdtData>({
  description,
  'x-typescript': 'string | Record<string, unknown> | unknown[]',
})
/** As it is read. */
const StoredCrdtData = Type.Unsafe<CrdtData>({ type: ['string', 'object', 'array'], description })

/** Name of the root inside the shared document, as front ends give it to Yjs. */
export const ContentKey = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
  'x-invalid': 'must not contain control characters.',
})

const required = (sentence: string) => Type.String({ ...ClientId, 'x-missing': sentence })

/** Names an editor; CRDT operations have sentences of their own for missing ids (spec 0.3). */
export const EditorPlace = {
  organizationId: required('Organization ID is required.'),
  documentId: required('Document ID is required.'),
  editorId: required('Editor ID is required.'),
}

/** The same where the sentence for the organization has no full stop, and every editor may be meant. */
export const EditorQuery = {
  organizationId: required('Organization ID is required'),
  documentId: EditorPlace.documentId,
  editorId: Type.Optional(ClientId),
}

/** The content of an editor as it is read. */
export const CrdtRecord = Type.Object({
  data: StoredCrdtData,
  id: Type.String(),
  /** ISO 8601. */
  lastUpdate: Type.String(),
  lastUpdatedBy: Type.String(),
  sessionId: Type.Union([Type.String(), Type.Null()]),
})
export type CrdtRecord = Type.Static<typeof CrdtRecord>

/** A user who saved or restored a version; the name as it was then, if it was known. */
export const VersionUser = Type.Object({ userId: Type.String(), name: Type.Optional(Type.String()) })
export type VersionUser = Type.Static<typeof VersionUser>

/** A saved state of an editor; its content is there when it was asked for. */
export const EditorVersion = Type.Object({
  versionId: Type.String(),
  name: Type.String(),
  type: CrdtType,
  createdAt: Timestamp,
  createdBy: Type.Optional(VersionUser),
  data: Type.Optional(StoredCrdtData),
})
export type EditorVersion = Type.Static<typeof EditorVersion>
