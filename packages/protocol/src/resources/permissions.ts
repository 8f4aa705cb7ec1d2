import Type from 'typebox'
import { AccessRole, AccessType, choice, ClientId, ExpiresAt, mapOf } from '../base/fields.ts'

/** Names what a permission is about (spec 22.12). */
export const ResourceReference = Type.Object({
  type: choice(['organization', 'folder', 'document']),
  id: ClientId,
  organizationId: Type.Optional({
    ...ClientId,
    description: 'The organization that holds the folder or document; ignored on an organization.',
  }),
})
export type ResourceReference = Type.Static<typeof ResourceReference>

/** A reference with what it permits, and until when. */
export const PermissionResource = Type.Object({
  ...ResourceReference.properties,
  accessRole: Type.Optional({ ...AccessRole, description: '`editor` unless given.' }),
  expiresAt: Type.Optional({
    ...ExpiresAt,
    description:
      'Unix seconds, rounded down. Values from 10^12 on are read as milliseconds. Default: never expires.',
  }),
})
export type PermissionResource = Type.Static<typeof PermissionResource>

/** What a user may do with one resource: a role, or the reason why nothing. */
export const Permission = Type.Object({
  accessRole: Type.Optional(AccessRole),
  accessType: Type.Optional(AccessType),
  expiresAt: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
  errorCode: Type.Optional(choice(['does_not_exist', 'permission_denied', 'something_went_wrong'])),
})
export type Permission = Type.Static<typeof Permission>

/** The permissions of one user by resource id; `folders` and `documents` only when they were asked for. */
export const UserPermissions = Type.Object({
  folders: Type.Optional(mapOf(Permission)),
  documents: Type.Optional(mapOf(Permission)),
  organization: mapOf(Permission),
})
export type UserPermissions = Type.Static<typeof UserPermissions>
