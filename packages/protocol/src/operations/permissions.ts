import Type from 'typebox'
import { idFilter, OrganizationId, requiredIdFilter, UserId as AnyUserId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described, flag, mapOf } from '../base/schemas.ts'
import { NoData } from '../resources/outcomes.ts'
import {
  PermissionsToAdd,
  PermissionsToRemove,
  UserPermissions,
  UserReference,
} from '../resources/permissions.ts'

/** `user` and `userId` are both optional, because either can name the user. One of them is required. */
const user = Type.Optional(described(UserReference, 'The user, instead of `userId`.'))
const userId = Type.Optional({
  ...AnyUserId,
  'x-missing': 'userId is required.',
  description: 'Id of the user, instead of `user`.',
})

const missingOrganizationId = {
  status: 'INVALID_ARGUMENT',
  message: 'permissions.resources[0].organizationId is required.',
} as const

export const permissions = {
  add: operation({
    spec: '7.3',
    path: '/auth/permissions/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'users',
    title: 'Add Permissions',
    summary: 'Grants a user access to organizations, folders and documents.',
    description:
      'A user has one grant per resource. A second grant replaces role and expiry, including those in tokens that were issued before. The resources do not have to exist yet. An unknown user is created.',
    input: Type.Object({
      user,
      userId,
      permissions: described(PermissionsToAdd, 'The grants to add.'),
    }),
    output: NoData,
    message: 'Permissions added successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'user.userId is required.' }, missingOrganizationId],
    example: {
      input: {
        user: { userId: 'user_1' },
        permissions: {
          resources: [
            { type: 'organization', id: 'org_1', accessRole: 'editor' },
            {
              type: 'document',
              id: 'doc_1',
              organizationId: 'org_1',
              accessRole: 'viewer',
              expiresAt: 1893456000,
            },
          ],
        },
      },
      output: null,
    },
  }),
  get: operation({
    spec: '7.4',
    path: '/auth/permissions/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Get Permissions',
    summary: 'Reads what users may do in an organization, its folders and documents.',
    description:
      '`accessType` is the type that applies, set or inherited. If a user has no access, the entry contains an error and the call succeeds. If a folder or document does not exist, the call fails with all entries in `details`; with `skipResourceExistenceValidation` it succeeds, and only the entry contains an error.',
    input: Type.Object({
      organizationId: OrganizationId,
      userIds: requiredIdFilter('Ids of the users.'),
      folderIds: Type.Optional(idFilter('Ids of the folders. Default: none.')),
      documentIds: Type.Optional(idFilter('Ids of the documents. Default: none.')),
      skipResourceExistenceValidation: Type.Optional(
        flag(
          'True: the call succeeds if a folder or document does not exist, with an error in its entry. Default: false.',
        ),
      ),
    }),
    output: mapOf(UserPermissions),
    message: 'User permissions retrieved successfully.',
    errors: [
      {
        status: 'NOT_FOUND',
        message: 'Folder or document does not exist',
        details: {
          user_1: {
            documents: { doc_9: { error: 'Document does not exist', errorCode: 'does_not_exist' } },
            organization: { org_1: { accessRole: 'editor' } },
          },
        },
      },
      { status: 'NOT_FOUND', message: 'Organization does not exist' },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        userIds: ['user_1'],
        folderIds: ['folder_2'],
        documentIds: ['doc_1', 'doc_5'],
      },
      output: {
        user_1: {
          folders: { folder_2: { accessRole: 'editor', accessType: 'restricted' } },
          documents: {
            doc_1: { accessRole: 'viewer', accessType: 'restricted', expiresAt: 1893456000 },
            doc_5: {
              error: 'User does not have access to document',
              errorCode: 'permission_denied',
              accessType: 'restricted',
            },
          },
          organization: { org_1: { accessRole: 'editor' } },
        },
      },
    },
  }),
  remove: operation({
    spec: '7.5',
    path: '/auth/permissions/remove',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'users',
    title: 'Remove Permissions',
    summary: 'Removes grants of a user on organizations, folders and documents.',
    description:
      'Removes the grants on exactly these resources, including those in tokens that were issued before. A missing grant is not an error. A user who loses an organization also leaves its user groups. The profile stays. Removing a grant does not close a `public` document to the user, and documents are `public` by default: a user without a grant can write there, even a former viewer. To exclude users without a grant, set `accessType` to `restricted` with `documents.updateAccess`.',
    input: Type.Object({
      userId,
      user,
      permissions: described(PermissionsToRemove, 'The grants to remove.'),
    }),
    output: NoData,
    message: 'Permissions removed successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'userId is required.' }, missingOrganizationId],
    example: {
      input: {
        userId: 'user_1',
        permissions: { resources: [{ type: 'document', id: 'doc_1', organizationId: 'org_1' }] },
      },
      output: null,
    },
  }),
}
