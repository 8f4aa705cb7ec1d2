import Type from 'typebox'
import { AccessRole, EffectiveAccessType } from '../base/fields.ts'
import { allOf, unless } from '../base/conditions.ts'
import { ChosenId, UserId } from '../base/ids.ts'
import { batch, choice, described, mapOf, maxBatchItems, text } from '../base/schemas.ts'

export const ResourceType = choice(
  ['organization', 'folder', 'document', 'context'],
  'Kind of the resource. `context`: a field of the access context, whose id is `key:value`.',
)

/** Everything but an organization is in one. */
const needsOrganization = {
  'x-conditions': unless('type', 'organization', allOf('organizationId')),
}

/** Names the resource of a permission (spec 22.12). */
export const ResourceReference = Type.Object(
  {
    type: ResourceType,
    id: described(ChosenId, 'Id of the resource.'),
    organizationId: Type.Optional(
      described(
        ChosenId,
        'Id of the organization that contains the resource. Required, except for an organization, where it is ignored.',
      ),
    ),
  },
  needsOrganization,
)
export type ResourceReference = Type.Static<typeof ResourceReference>

/** A resource, the role of a user on it, and the time when the role expires. */
export const PermissionResource = Type.Object(
  {
    ...ResourceReference.properties,
    accessRole: Type.Optional(
      described(
        AccessRole,
        'What the user may do: a `viewer` reads, an `editor` reads and writes. Default: a role that was sent for the user before, there or on a less specific level, otherwise `editor`.',
      ),
    ),
    expiresAt: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'When the permission expires, in Unix seconds, rounded down. Values from 10^12 on are read as milliseconds. Default: never.',
      }),
    ),
  },
  needsOrganization,
)
export type PermissionResource = Type.Static<typeof PermissionResource>

export const TokenPermissions = Type.Object({
  resources: Type.Array(PermissionResource, {
    maxItems: maxBatchItems,
    description: 'The organizations, folders and documents that the token gives access to.',
  }),
})

export const PermissionsToAdd = Type.Object({
  resources: batch(PermissionResource, 'The organizations, folders and documents, with the roles to grant.'),
})

export const PermissionsToRemove = Type.Object({
  resources: batch(ResourceReference, 'The organizations, folders and documents whose grants to remove.'),
})

/** `userId` is optional in `user`, because callers can send it beside `user` instead. One of the two is required. */
export const UserReference = Type.Object({
  userId: Type.Optional({ ...UserId, 'x-missing': 'user.userId is required.' }),
})

export const PermissionErrorCode = choice(
  ['does_not_exist', 'permission_denied', 'something_went_wrong'],
  'Machine-readable reason why the user has no access.',
)

/** What a user may do with one resource: a role, or the reason for having no access. */
export const Permission = Type.Object({
  accessRole: Type.Optional(AccessRole),
  accessType: Type.Optional(EffectiveAccessType),
  expiresAt: Type.Optional(
    Type.Integer({ description: 'When the permission expires, in Unix seconds. Absent: never.' }),
  ),
  error: Type.Optional(text('Human-readable reason why the user has no access.')),
  errorCode: Type.Optional(PermissionErrorCode),
})
export type Permission = Type.Static<typeof Permission>

/** The access context of a user. */
export const AccessContext = Type.Object({
  accessFields: Type.Array(Type.String(), { description: 'The fields that the user holds, as `key:value`.' }),
})

/** The permissions of one user. */
export const UserPermissions = Type.Object({
  folders: Type.Optional(
    mapOf(Permission, 'The permissions on the folders, by id. Present when `folderIds` was sent.'),
  ),
  documents: Type.Optional(
    mapOf(Permission, 'The permissions on the documents, by id. Present when `documentIds` was sent.'),
  ),
  organization: mapOf(Permission, 'The permission on the organization, by id.'),
  context: Type.Optional(
    described(AccessContext, 'The access context of the user. Absent: the user holds no field.'),
  ),
})
export type UserPermissions = Type.Static<typeof UserPermissions>
