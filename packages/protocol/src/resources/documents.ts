import Type from 'typebox'
import {
  AccessRole,
  AccessType,
  CreatedAt,
  displayName,
  EffectiveAccessType,
  LastUpdated,
} from '../base/fields.ts'
import { DocumentId } from '../base/ids.ts'
import { choice, described, flag, openObject, text } from '../base/schemas.ts'
import { outcome } from './outcomes.ts'

export const DocumentDisabled = flag('While true, users can neither read nor write the document.')

/** A document in an answer. Its metadata are further keys (spec 22.4). */
export const Document = openObject(
  Type.Object({
    id: text('Id of the document.'),
    documentId: text('Id of the document, under the name that it has in requests.'),
    documentName: Type.Optional(text('Display name of the document.')),
    folderId: Type.Optional(
      text('Id of the folder that contains the document. Absent if it is in no folder.'),
    ),
    accessType: EffectiveAccessType,
    disabled: DocumentDisabled,
    createdAt: CreatedAt,
    lastUpdated: LastUpdated,
  }),
)
export type Document = Type.Static<typeof Document>

/** A document that a user can open. Other metadata of the document are not for users. */
export const ListedDocument = Type.Object({
  documentId: text('Id of the document.'),
  documentName: Type.Optional(text('Display name of the document.')),
  folderId: Type.Optional(text('Id of the folder that contains the document. Absent if it is in no folder.')),
  accessRole: described(AccessRole, 'What the user may do: a `viewer` reads, an `editor` reads and writes.'),
  accessUntil: Type.Optional(
    Type.Integer({ description: 'When the access may end, in Unix seconds. Absent: not by itself.' }),
  ),
  createdAt: CreatedAt,
  lastUpdated: LastUpdated,
})
export type ListedDocument = Type.Static<typeof ListedDocument>

/** A document in a request. */
export const DocumentInput = openObject(
  Type.Object({
    documentId: DocumentId,
    documentName: Type.Optional(displayName('Display name of the document.')),
    accessType: Type.Optional(AccessType),
  }),
)

export const DocumentAccessOutcome = Type.Object({
  success: outcome.success,
  accessType: Type.Optional(described(AccessType, 'The new access type of the document.')),
  message: outcome.message,
})

export const DocumentDisableOutcome = Type.Object({
  success: outcome.success,
  disabled: Type.Optional(flag('Whether the document is now disabled.')),
  message: outcome.message,
})

export const MigrationStatus = choice(
  ['pending', 'in_progress', 'completed', 'failed'],
  'State of the migration. `completed` and `failed` are final.',
)
export type MigrationStatus = Type.Static<typeof MigrationStatus>
