import Type from 'typebox'
import { CreatedAt, displayName, LastUpdated } from '../base/fields.ts'
import { OrganizationId } from '../base/ids.ts'
import { flag, openObject, text } from '../base/schemas.ts'

export const OrganizationDisabled = flag(
  'While true, users can neither read nor write anything in the organization.',
)

/** An organization in an answer. Its metadata are further keys (spec 22.2). */
export const Organization = openObject(
  Type.Object({
    id: text('Id of the organization.'),
    organizationName: text('Display name of the organization. Its id if no name was set.'),
    disabled: OrganizationDisabled,
    createdAt: CreatedAt,
    lastUpdated: LastUpdated,
  }),
)
export type Organization = Type.Static<typeof Organization>

/** An organization in a request. */
export const OrganizationInput = openObject(
  Type.Object({
    organizationId: OrganizationId,
    organizationName: Type.Optional(displayName('Display name of the organization.')),
  }),
)
