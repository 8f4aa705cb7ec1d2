import Type from 'typebox'
import { AccessType, CreatedAt, displayName, EffectiveAccessType, LastUpdated } from '../base/fields.ts'
import { ChosenId, FolderId, NewFolderId } from '../base/ids.ts'
import { described, flag, text } from '../base/schemas.ts'
import { outcome } from './outcomes.ts'

/** Limits the levels of folders below `root` (spec 9.1). */
export const maxFolderDepth = 32

const fields = {
  folderId: text('Id of the folder.'),
  folderName: text('Display name of the folder.'),
  organizationId: text('Id of the organization.'),
  parentFolderId: text('Id of the parent folder. `root` for a top-level folder.'),
  apiKey: text('Id of the API key that the folder belongs to.'),
  createdAt: CreatedAt,
  lastUpdated: LastUpdated,
  ancestors: Type.Array(Type.String(), { description: 'Ids from `root` down to the parent folder.' }),
  accessType: EffectiveAccessType,
  inheritAccessFromParent: flag('Whether the folder inherits `accessType` from its parent.'),
}
const Fields = Type.Object(fields)

/** A folder in an answer (spec 22.3). */
export type Folder = Type.Static<typeof Fields> & { subFolders?: Folder[] }
export const Folder = Type.Unsafe<Folder>(
  Type.Object({
    ...fields,
    subFolders: Type.Optional(
      Type.Array(
        { type: 'object', additionalProperties: true, 'x-typescript': 'Folder' },
        { description: 'The subfolders, in the same form. Absent if there are none.' },
      ),
    ),
  }),
)

/** A folder in a request of Add Folders. */
export const FolderInput = Type.Object({
  folderId: NewFolderId,
  folderName: Type.Optional(displayName('Display name of the folder. Default: its id.')),
  parentFolderId: Type.Optional(
    described(ChosenId, 'Id of the parent folder. Default: `root`, the top level.'),
  ),
  accessType: Type.Optional(AccessType),
})

/** A folder in a request of Update Folders. The access type has an operation of its own. */
export const FolderChange = Type.Object({
  folderId: FolderId,
  folderName: Type.Optional(displayName('New display name of the folder.')),
  parentFolderId: Type.Optional(
    described(ChosenId, 'Id of the new parent folder. `root` moves the folder to the top level.'),
  ),
})

export const FolderAccessOutcome = Type.Object({
  success: outcome.success,
  accessType: Type.Optional(
    Type.Union([AccessType, Type.Null()], {
      description: 'The new access type of the folder. `null` if the folder inherits it.',
    }),
  ),
  inheritFromParent: Type.Optional(flag('Whether the folder now inherits `accessType` from its parent.')),
  message: outcome.message,
})
