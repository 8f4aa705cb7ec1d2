import Type from 'typebox'
import {
  DocumentId,
  FolderId,
  idFilter,
  OrganizationId,
  requiredIdFilter,
  UserId as AnyUserId,
} from '../base/ids.ts'
import { allOf, oneOf } from '../base/conditions.ts'
import { operation } from '../base/operation.ts'
import { described, flag, mapOf } from '../base/schemas.ts'
import { NoData } from '../resources/outcomes.ts'
import { Assumption, PermissionExplanation } from '../resources/permission-explanations.ts'
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

const namesUser = {
  'x-conditions': {
    if: allOf('userId'),
    else: { properties: { user: allOf('userId') }, required: ['user'] },
  },
}

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
    input: Type.Object(
      { user, userId, permissions: described(PermissionsToAdd, 'The grants to add.') },
      namesUser,
    ),
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
    input: Type.Object(
      { userId, user, permissions: described(PermissionsToRemove, 'The grants to remove.') },
      namesUser,
    ),
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
  explain: operation({
    spec: '7.9',
    path: '/auth/permissions/explain',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Explain Permissions',
    summary: 'Explains what a user may do with a document or folder, and why.',
    description:
      'Send `documentId` or `folderId`. The answer lists all levels that can give or define access, and names the rule of the specification that decided. The server does not store the tokens of users, so `now` is based on stored grants only; send the resources of a token as `assume.token` to include them. With `assume`, the answer also has the decision after the changes that `assume` describes. Nothing is stored.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        userId: AnyUserId,
        documentId: Type.Optional(DocumentId),
        folderId: Type.Optional(FolderId),
        skipResourceExistenceValidation: Type.Optional(
          flag(
            'True: a document that does not exist is explained as if the user had just opened it. Default: false.',
          ),
        ),
        assume: Type.Optional(described(Assumption, 'Changes to try out. They are not made.')),
      },
      { 'x-conditions': oneOf('documentId', 'folderId') },
    ),
    output: PermissionExplanation,
    message: 'Permissions explained successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Provide either documentId or folderId.' },
      { status: 'INVALID_ARGUMENT', message: 'Folder does not exist.' },
      {
        status: 'INVALID_ARGUMENT',
        message:
          'assume.addGrants[0] must be the explained document or folder, a folder above it, or the organization.',
      },
      { status: 'INVALID_ARGUMENT', message: 'assume.folderId needs documentId.' },
      { status: 'INVALID_ARGUMENT', message: 'assume.token.resources[0].organizationId is required.' },
      { status: 'NOT_FOUND', message: 'Document does not exist' },
      { status: 'NOT_FOUND', message: 'Folder does not exist' },
      { status: 'NOT_FOUND', message: 'Organization does not exist' },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        userId: 'user_1',
        documentId: 'doc_1',
        assume: { addGrants: [{ type: 'document', id: 'doc_1', accessRole: 'viewer' }] },
      },
      output: {
        userExists: true,
        documentExists: true,
        now: {
          canRead: false,
          canWrite: false,
          rule: '25.4.5',
          message:
            'The document is restricted. Only users with a grant on the document itself have access. The grant on the organization does not apply: grants on the organization do not open restricted documents. To give access, add a grant on the document with permissions.add.',
          accessType: 'restricted',
          definedAt: { type: 'document', id: 'doc_1' },
          disabled: false,
          organizationDisabled: false,
          levels: [
            {
              type: 'document',
              id: 'doc_1',
              accessType: 'restricted',
              inheritAccessFromParent: false,
              message: 'The user has no grant on this document.',
            },
            {
              type: 'organization',
              id: 'org_1',
              grant: { accessRole: 'editor', state: 'live', source: 'stored', applies: false },
              message:
                'The grant on the organization does not apply: grants on the organization do not open restricted documents.',
            },
            {
              type: 'apiKey',
              id: 'key_1',
              accessType: 'public',
              message: 'The default of the API key does not apply, because the document sets an access type.',
            },
          ],
        },
        assumed: {
          canRead: true,
          canWrite: false,
          accessRole: 'viewer',
          rule: '25.4.1',
          message:
            'The most specific grant that applies is the one on the document. It gives the role viewer: the user may read, but not write.',
          accessType: 'restricted',
          definedAt: { type: 'document', id: 'doc_1' },
          disabled: false,
          organizationDisabled: false,
          levels: [
            {
              type: 'document',
              id: 'doc_1',
              accessType: 'restricted',
              inheritAccessFromParent: false,
              grant: { accessRole: 'viewer', state: 'live', source: 'stored', applies: true },
              message: 'The grant on this document gives the role viewer.',
            },
            {
              type: 'organization',
              id: 'org_1',
              grant: { accessRole: 'editor', state: 'live', source: 'stored', applies: false },
              message:
                'The grant on the organization does not apply: grants on the organization do not open restricted documents.',
            },
            {
              type: 'apiKey',
              id: 'key_1',
              accessType: 'public',
              message: 'The default of the API key does not apply, because the document sets an access type.',
            },
          ],
        },
        differs: true,
      },
    },
  }),
}
