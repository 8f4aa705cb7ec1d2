import Type from 'typebox'
import { CreateDocument, CreateFolder, PageSize, PageToken, UserPageSize } from '../base/fields.ts'
import { ChosenId, idBatch, idFilter, OrganizationId } from '../base/ids.ts'
import { notBoth } from '../base/conditions.ts'
import { type ErrorExample, operation } from '../base/operation.ts'
import { batch, described, flag, mapOf, v2Only } from '../base/schemas.ts'
import { Outcomes } from '../resources/outcomes.ts'
import { MemberInput, Person, User } from '../resources/users.ts'

const id = '4c250c058149f1ed2c1cd0b1e8d8c790'

/** The level that a call addresses: the document, the folder, or without both the organization (spec 12). */
const level = {
  organizationId: OrganizationId,
  documentId: Type.Optional(
    described(ChosenId, 'Id of the document. Default: the users belong to the organization.'),
  ),
  folderId: Type.Optional(described(ChosenId, 'Id of the folder. Send either this or `documentId`.')),
}
const oneLevel = { 'x-conditions': notBoth('documentId', 'folderId') }
const bothLevelsSent: ErrorExample = {
  status: 'INVALID_ARGUMENT',
  message: 'Provide either documentId or folderId.',
}

export const users = {
  add: operation({
    spec: '12.1',
    path: '/users/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'users',
    title: 'Add Users',
    summary: 'Adds users to an organization, or to one of its documents or folders.',
    description:
      'With `documentId` or `folderId`, users are added only there. For a user who is already there, the sent fields are merged into the profile. Without `accessRole`, users get access, but a role that was sent elsewhere, such as `viewer` in a token, still applies. The organization is created unless `createOrganization` is false.',
    input: Type.Object(
      {
        ...level,
        createOrganization: v2Only(
          flag('Whether to create the organization if it does not exist. Default: true.'),
        ),
        createDocument: v2Only(CreateDocument),
        createFolder: v2Only(CreateFolder),
        users: batch(MemberInput, 'The users to add.'),
      },
      oneLevel,
    ),
    output: Outcomes,
    message: 'User(s) processed successfully.',
    errors: [
      bothLevelsSent,
      { status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Folder does not exist.' },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        users: [{ userId: 'user_1', name: 'Ada Lovelace', email: 'ada@example.com', accessRole: 'editor' }],
      },
      output: { user_1: { success: true, id, message: 'User added.' } },
    },
  }),
  get: operation({
    spec: '12.2',
    path: '/users/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Users',
    summary: 'Reads the users of an organization, or of its documents or folders.',
    description:
      'A user must match all filters. `allDocuments` reads the users of every document, each once and without `accessRole`; with `groupByDocumentId` they are listed by document. v1 has no pages and returns up to 10,000 users.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: Type.Optional(described(ChosenId, 'Only users of this document.')),
      folderId: v2Only(described(ChosenId, 'Only users of this folder.')),
      userIds: Type.Optional(idFilter('Only users with these ids.')),
      organizationUserGroupIds: Type.Optional(idFilter('Only users in one of these user groups.')),
      allDocuments: v2Only(flag('True: reads the users of every document, each once, without `accessRole`.')),
      groupByDocumentId: v2Only(flag('True: lists the users by document. Requires `allDocuments`.')),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Union([Type.Array(User), mapOf(Type.Array(User))]),
    groupedBy: 'groupByDocumentId',
    paging: ['nextPageToken'],
    message: 'User(s) retrieved successfully.',
    errors: [
      bothLevelsSent,
      { status: 'INVALID_ARGUMENT', message: 'allDocuments cannot be combined with documentId or folderId.' },
      { status: 'INVALID_ARGUMENT', message: 'groupByDocumentId requires allDocuments.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
    ],
    example: {
      input: { organizationId: 'org_1', userIds: ['user_1'] },
      output: [
        {
          userId: 'user_1',
          name: 'Ada Lovelace',
          email: 'ada@example.com',
          initial: 'A',
          color: '#2f6fde',
          accessRole: 'editor',
        },
      ],
    },
  }),
  list: operation({
    spec: '12.5',
    path: '/users/list',
    versions: ['v2'],
    access: 'user',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'List Users',
    summary: 'Lists the people of an organization, as other users of it see them.',
    description:
      'A person has a grant in the organization: on it, or on one of its folders or documents. With a user token, the user must belong to the organization too. Email addresses are not listed. The order is that of the ids. A page may have fewer people than `pageSize` although others follow: read on while there is a `nextPageToken`.',
    input: Type.Object({
      organizationId: OrganizationId,
      userIds: Type.Optional(idFilter('Only users with these ids. Default: all.')),
      pageSize: Type.Optional(UserPageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(Person),
    paging: ['nextPageToken'],
    message: 'User(s) retrieved successfully.',
    errors: [
      { status: 'PERMISSION_DENIED', message: 'User does not have access to organization' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
    ],
    example: {
      input: { organizationId: 'org_1' },
      output: [{ userId: 'user_1', name: 'Ada Lovelace', initial: 'A', color: '#2f6fde' }],
    },
  }),
  update: operation({
    spec: '12.3',
    path: '/users/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'users',
    title: 'Update Users',
    summary: 'Changes the profiles of users.',
    description:
      'Sent fields are merged into the profile, which all organizations share; `null` removes a field. `accessRole` changes only on the addressed level: the document, the folder or the organization.',
    input: Type.Object(
      {
        ...level,
        users: batch(MemberInput, 'The users to change, with the fields to change.'),
      },
      oneLevel,
    ),
    output: Outcomes,
    message: 'User(s) processed successfully.',
    errors: [bothLevelsSent],
    example: {
      input: {
        organizationId: 'org_1',
        users: [
          { userId: 'user_1', name: 'Ada King', email: 'ada@example.com' },
          { userId: 'user_2', name: 'Nobody' },
        ],
      },
      output: {
        user_1: { success: true, id, message: 'User updated.' },
        user_2: { success: false, id: 'ad2250e91b4c7a6f3d8e0b5c9a17768a', message: 'User does not exist.' },
      },
    },
  }),
  delete: operation({
    spec: '12.4',
    path: '/users/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'users',
    title: 'Delete Users',
    summary: 'Removes users from an organization, or from one of its documents or folders.',
    description:
      'A user who leaves the organization also leaves its user groups and loses access to everything inside it. The profile is deleted when the user belongs nowhere else. Tokens that were issued before no longer permit anything there. Removing a user does not close a `public` document to the user, and documents are `public` by default: a user without a grant can write there, even a former viewer. To exclude users without a grant, set `accessType` to `restricted` with `documents.updateAccess`.',
    input: Type.Object({ ...level, userIds: idBatch('Ids of the users to remove.') }, oneLevel),
    output: Outcomes,
    message: 'User(s) deleted successfully.',
    errors: [bothLevelsSent],
    example: {
      input: { organizationId: 'org_1', userIds: ['user_1', 'user_2'] },
      output: {
        user_1: { success: true, message: 'User removed.' },
        user_2: { success: false, message: 'User does not exist.' },
      },
    },
  }),
}
