import Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { maxIdLength } from './limits.ts'
import { described, maxBatchItems, maxFilterIds } from './schemas.ts'

/** Pattern of a text without control characters and without unpaired surrogates. */
export const visibleCharacters = '[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$'
const idCharacters = `(?!\\s*$)(?!\\.{1,2}$)${visibleCharacters}`

/** An id that the caller chooses (spec 0.6). It may contain `/`, because paths and URLs are common ids of documents. */
export const ChosenId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: `^${idCharacters}`,
  'x-invalid': 'must not contain control characters and must not be "." or "..".',
})

/** What an id must be, for messages that begin with the name of the field. */
export const chosenIdRule = `must have 1 to ${maxIdLength} characters, must not contain control characters and must not be "." or "..".`

// Compiled on first use, so importing the protocol costs nothing.
let compiledChosenId: Validator | undefined

/** Whether the value is a valid id, by the schema that validates requests. */
export function isChosenId(value: unknown): value is string {
  compiledChosenId ??= Compile(ChosenId)
  return compiledChosenId.Check(value)
}

export const ApiKeyId = described(ChosenId, 'Id of the API key.')
export const OrganizationId = described(ChosenId, 'Id of the organization.')
export const FolderId = described(ChosenId, 'Id of the folder.')
export const DocumentId = described(ChosenId, 'Id of the document.')
export const EditorId = described(ChosenId, 'Id of the editor inside the document.')
export const VersionId = described(ChosenId, 'Id of the version.')
export const UserId = described(ChosenId, 'Id of the user.')
/** The user for whom a backend calls. */
export const ActingUserId = described(
  ChosenId,
  'The user who acts. Required for backends. With a user token, it is the user of the token.',
)
export const UserGroupId = described(ChosenId, 'Id of the user group.')

/** `root` names the top of the tree, so no folder can have that id (spec 0.6). */
export const NewFolderId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: `^(?!root$)${idCharacters}`,
  'x-invalid': 'must not contain control characters and must not be ".", ".." or "root".',
  description: 'Id of the folder.',
})

/** Stricter than other ids, because clients also use the id of a notification as a key (spec 0.6). */
export const NotificationId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: '^[A-Za-z0-9_-]+$',
  'x-invalid': 'may contain only letters, digits, "_" and "-".',
})

/** The ids that a write addresses: at least one. */
export const idBatch = (description: string) =>
  Type.Array(ChosenId, { minItems: 1, maxItems: maxBatchItems, description })

/** The ids that limit which items a read returns. */
export const idFilter = (description: string) => Type.Array(ChosenId, { maxItems: maxFilterIds, description })

/** Like `idFilter`, but with at least one id. */
export const requiredIdFilter = (description: string) =>
  Type.Array(ChosenId, { minItems: 1, maxItems: maxFilterIds, description })
