import Type from 'typebox'
import { ClientId, Name, open, Timestamp } from '../base/fields.ts'

/** An organization as it is read; metadata of the caller's own stands beside these (spec 22.2). */
export const Organization = open(
  Type.Object({
    id: Type.String(),
    organizationName: Type.String({ description: 'The id, unless a name was set.' }),
    disabled: Type.Boolean(),
    createdAt: Timestamp,
    lastUpdated: Timestamp,
  }),
)
export type Organization = Type.Static<typeof Organization>

/** An organization as it is written. */
export const OrganizationInput = open(
  Type.Object({
    organizationId: ClientId,
    organizationName: Type.Optional(Name),
  }),
)
