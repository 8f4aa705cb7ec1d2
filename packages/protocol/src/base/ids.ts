import Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { maxIdLength } from './limits.ts'
import { described, maxBatchItems, maxFilterIds } from './schemas.ts'

/** No control characters and no unpaired surrogates. */
export const visibleCharacters = '[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$'
const idCharacters = `(?!\\s*$)(?!\\.{1,2}$)${visibleCharacters}`

/** An id chosen by the caller (spec 0.6). Paths and URLs are common ids of documents. */
export const ClientId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: `^${idCharacters}`,
  'x-invalid': 'must not contain control characters and must not be "." or "..".',
})

/** What an id must be, for messages that begin with the name of the field. */
export const clientIdRule = `must have 1 to ${maxIdLength} characters, must not contain control characters and must not be "." or "..".`

// Compiled on first use, so importing the protocol costs nothing.
let compiledClientId: Validator | undefined

/** Whether the value is a valid id, by the schema that validates requests. */
export function isClientId(value: unknown): value is string {
  compiledClientId ??= Compile(ClientId)
  return compiledClientId.Check(value)
}

export const ApiKeyId = described(ClientId, 'Id of the API key.')
export const OrganizationId = described(ClientId, 'Id of the organization.')
export const FolderId = described(ClientId, 'Id of the folder.')
export const DocumentId = described(ClientId, 'Id of the document.')
export const EditorId = described(ClientId, 'Id of the editor inside the document.')
export const VersionId = described(ClientId, 'Id of the version.')
export const UserId = described(ClientId, 'Id of the user.')
export const UserGroupId = described(ClientId, 'Id of the user group.')

/** `root` names the top of the tree, so no folder can have that id (spec 0.6). */
export const NewFolderId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: `^(?!root$)${idCharacters}`,
  'x-invalid': 'must not contain control characters and must not be ".", ".." or "root".',
  description: 'Id of the folder.',
})

/** Clients also use the id of a notification as a key (spec 0.6). */
export const NotificationId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: '^[A-Za-z0-9_-]+$',
  'x-invalid': 'may contain only letters, digits, "_" and "-".',
})

/** The ids that a write addresses: at least one. */
export const idBatch = (description: string) =>
  Type.Array(ClientId, { minItems: 1, maxItems: maxBatchItems, description })

/** The ids that a read returns, or that narrow it. */
export const idFilter = (description: string) => Type.Array(ClientId, { maxItems: maxFilterIds, description })

/** Like `idFilter`, but at least one. */
export const requiredIdFilter = (description: string) =>
  Type.Array(ClientId, { minItems: 1, maxItems: maxFilterIds, description })
