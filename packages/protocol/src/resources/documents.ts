import Type from 'typebox'
import { AccessType, choice, ClientId, Flag, Name, open, Timestamp } from '../base/fields.ts'

/** A document as it is read; metadata of the caller's own stands beside these (spec 22.4). */
export const Document = open(
  Type.Object({
    id: Type.String(),
    documentName: Type.Optional(Type.String()),
    folderId: Type.Optional(Type.String({ description: 'Absent for a document in no folder.' })),
    accessType: AccessType,
    disabled: Flag,
    createdAt: Timestamp,
    lastUpdated: Timestamp,
  }),
)
export type Document = Type.Static<typeof Document>

/** A document as it is written. */
export const DocumentInput = open(
  Type.Object({
    documentId: ClientId,
    documentName: Type.Optional(Name),
    accessType: Type.Optional(AccessType),
  }),
)

export const MigrationStatus = choice(['pending', 'in_progress', 'completed', 'failed'])
export type MigrationStatus = Type.Static<typeof MigrationStatus>
