import Type from 'typebox'
import { CreatedAt } from '../base/fields.ts'
import { ChosenId, DocumentId, EditorId, OrganizationId, visibleCharacters } from '../base/ids.ts'
import { maxIdLength } from '../base/limits.ts'
import { choice, described, text } from '../base/schemas.ts'

export const CrdtType = choice(['text', 'map', 'array', 'xml'], 'Type of the content.')

const jsonTypes = ['string', 'object', 'array']
const crdtData = {
  description: 'The content: a string for `text` and `xml`, an object for `map`, an array for `array`.',
  'x-typescript': 'string | Record<string, unknown> | unknown[]',
}
export type CrdtData = string | Record<string, unknown> | unknown[]
/** Validation accepts any value, because the operations have their own messages for data that does not match the type. */
export const CrdtData = Type.Unsafe<CrdtData>({ 'x-type': jsonTypes, ...crdtData })
/** The content in an answer. */
const StoredCrdtData = Type.Unsafe<CrdtData>({ type: jsonTypes, ...crdtData })

/** Name of the shared type inside the Yjs document. */
export const ContentKey = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: `^${visibleCharacters}`,
  'x-invalid': 'must not contain control characters.',
  description: 'Name of the shared type inside the Yjs document. Default: `content`.',
})

/** What a content key must be, for messages that begin with the name of the field. */
export const contentKeyRule = `must have 1 to ${maxIdLength} characters and must not contain control characters.`

const withMissingMessage = (id: typeof ChosenId, message: string) =>
  Type.String({ ...id, 'x-missing': message })

/** Names an editor. CRDT operations have their own messages for missing ids (spec 0.3). */
export const editorRef = {
  organizationId: withMissingMessage(OrganizationId, 'Organization ID is required.'),
  documentId: withMissingMessage(DocumentId, 'Document ID is required.'),
  editorId: withMissingMessage(EditorId, 'Editor ID is required.'),
}

/** Names one editor, or all editors of a document. The message for a missing organization has no full stop here. */
export const editorFilter = {
  organizationId: withMissingMessage(OrganizationId, 'Organization ID is required'),
  documentId: editorRef.documentId,
  editorId: Type.Optional(
    described(ChosenId, 'Id of the editor inside the document. Default: all editors of the document.'),
  ),
}

/** The JSON that stands for content of a type. */
const jsonOf = (type: string) => ({
  type,
  ...(type === 'object' && { additionalProperties: true }),
  ...(type === 'array' && { items: { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] } }),
})

/** The content of an editor in a request. */
export const EditorContent = Type.Object(
  {
    ...editorRef,
    data: CrdtData,
    type: CrdtType,
    contentKey: Type.Optional(ContentKey),
  },
  {
    'x-conditions': {
      oneOf: Object.entries({ text: 'string', xml: 'string', map: 'object', array: 'array' }).map(
        ([type, data]) => ({
          type: 'object',
          properties: { type: { type: 'string', const: type }, data: jsonOf(data) },
          required: ['type', 'data'],
        }),
      ),
    },
  },
)

/** The content of an editor in an answer. */
export const CrdtRecord = Type.Object({
  data: StoredCrdtData,
  id: text('Id of the editor.'),
  lastUpdate: text('When the content was last changed, in ISO 8601.'),
  lastUpdatedBy: text('Id of the user who made the last change.'),
  sessionId: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the session that made the last change. `null` if a REST call made it.',
  }),
})
export type CrdtRecord = Type.Static<typeof CrdtRecord>

/** A user who saved or restored a version. */
export const VersionUser = Type.Object({
  userId: text('Id of the user.'),
  name: Type.Optional(text('Display name of the user at the time of saving. Absent if it was unknown.')),
})
export type VersionUser = Type.Static<typeof VersionUser>

const versionInfo = {
  versionId: text('Id of the version.'),
  name: text('Display name of the version.'),
  type: CrdtType,
  createdAt: CreatedAt,
  createdBy: Type.Optional(
    described(VersionUser, 'The user who saved the version. Absent if a backend saved it without `userId`.'),
  ),
}

/** A saved state of an editor, without its content. */
export const VersionInfo = Type.Object(versionInfo)

/** A saved state of an editor. */
export const EditorVersion = Type.Object({
  ...versionInfo,
  data: Type.Optional(
    described(
      StoredCrdtData,
      'The content: a string for `text` and `xml`, an object for `map`, an array for `array`. Present when the version is read by `versionId`.',
    ),
  ),
})
export type EditorVersion = Type.Static<typeof EditorVersion>
