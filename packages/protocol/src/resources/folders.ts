import Type from 'typebox'
import { AccessType, ClientId, Flag, JsonObject, Name, Timestamp } from '../base/fields.ts'

/** Levels of folders below `root` (spec 9.1). */
export const folderDepth = 32

/** `root` is the place above all folders, so no folder has that id (spec 0.6). */
export const FolderId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^(?!root$)(?!\\s*$)(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
  'x-invalid': 'must not contain control characters and must not be ".", ".." or "root".',
})

const fields = {
  folderId: Type.String(),
  folderName: Type.String(),
  organizationId: Type.String(),
  parentFolderId: Type.String({ description: '`root` for a top-level folder.' }),
  apiKey: Type.String(),
  createdAt: Timestamp,
  lastUpdated: Timestamp,
  ancestors: Type.Array(Type.String(), { description: 'From `root` down to the parent.' }),
  accessType: AccessType,
  inheritAccessFromParent: Flag,
}
const Fields = Type.Object(fields)

/** A folder as it is read (spec 22.3). */
export type Folder = Type.Static<typeof Fields> & { subFolders?: Folder[] }
export const Folder = Type.Unsafe<Folder>(
  Type.Object({
    ...fields,
    subFolders: Type.Optional(
      Type.Array(
        { ...JsonObject, 'x-typescript': 'Folder' },
        { description: 'Folders of the same form. Absent where there are none.' },
      ),
    ),
  }),
)

/** A folder as it is added. */
export const FolderInput = Type.Object({
  folderId: FolderId,
  folderName: Type.Optional(Name),
  parentFolderId: Type.Optional(ClientId),
  accessType: Type.Optional(AccessType),
})

/** What may be changed of a folder; its access has an operation of its own. */
export const FolderChange = Type.Object({
  folderId: ClientId,
  folderName: Type.Optional(Name),
  parentFolderId: Type.Optional(ClientId),
})
