import Type from 'typebox'
import { AccessType, CreateOrganization, PageSize, PageToken } from '../base/fields.ts'
import { ClientId, FolderId, idBatch, OrganizationId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, described, flag, mapOf, v2Only } from '../base/schemas.ts'
import {
  Folder,
  FolderAccessOutcome,
  FolderChange,
  FolderInput,
  maxFolderDepth,
} from '../resources/folders.ts'
import { NoData, Outcomes } from '../resources/outcomes.ts'

export const folders = {
  add: operation({
    spec: '9.1',
    path: '/organizations/folders/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Folders',
    summary: 'Adds folders, each at the top or inside another one.',
    description:
      'Folders are added in the order given, so a parent may stand before its children in the same call. Without `accessType` a folder inherits from its parent; at the top it has the default of the API key. Folders nest 32 levels deep.',
    input: Type.Object({
      organizationId: OrganizationId,
      createOrganization: Type.Optional(CreateOrganization),
      folders: batch(FolderInput, 'The folders to add, parents before their children.'),
    }),
    output: Outcomes,
    message: 'Folder created successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' }],
    example: {
      input: {
        organizationId: 'org_1',
        folders: [
          { folderId: 'designs', folderName: 'Designs' },
          { folderId: 'drafts', parentFolderId: 'designs' },
        ],
      },
      output: {
        designs: { success: true, id: 'designs', message: 'Folder added.' },
        drafts: { success: true, id: 'drafts', message: 'Folder added.' },
      },
    },
  }),
  get: operation({
    spec: '9.2',
    path: '/organizations/folders/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Folders',
    summary: 'Reads the folders of an organization, all or one with what is inside it.',
    description:
      'Without `folderId` all folders are returned as a flat list; with `maxDepth` or `rootFoldersOnly` the top-level ones, nested to that depth. With `folderId` that folder is returned with its `subFolders`, one level unless `maxDepth` says more. Everything that is asked for comes in one answer, unless `pageSize` is sent: then a page has that many folders of the outermost list, which is the list of all folders, of the top-level ones, or with `folderId` of its direct subfolders. An answer of more than 100,000 folders or 64 MiB is refused.',
    input: Type.Object({
      organizationId: OrganizationId,
      folderId: Type.Optional(
        described(ClientId, 'Id of the folder to read with its subfolders. Default: all folders.'),
      ),
      maxDepth: v2Only(
        Type.Integer({
          minimum: 1,
          maximum: maxFolderDepth,
          description: 'How many levels of subfolders to read. Default: 1.',
        }),
      ),
      rootFoldersOnly: v2Only(flag('Reads only the top-level folders.')),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Array(Folder),
    paging: ['nextPageToken'],
    message: 'Folders retrieved successfully.',
    v2Message: {
      message: 'Folder(s) retrieved successfully.',
      when: 'with `folderId`, `maxDepth` or `rootFoldersOnly`',
    },
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Folder does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'maxDepth must be an integer between 1 and 32.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      {
        status: 'INVALID_ARGUMENT',
        message:
          'The answer would have more than 100,000 folders or 64 MiB. Read it in parts with pageSize or maxDepth, under v2.',
      },
    ],
    example: {
      input: { organizationId: 'org_1', folderId: 'designs' },
      isV2Message: true,
      output: [
        {
          folderId: 'designs',
          folderName: 'Designs',
          organizationId: 'org_1',
          parentFolderId: 'root',
          apiKey: 'key_1',
          createdAt: 1738695077691,
          lastUpdated: 1738695077691,
          ancestors: ['root'],
          accessType: 'public',
          inheritAccessFromParent: false,
          subFolders: [
            {
              folderId: 'drafts',
              folderName: 'drafts',
              organizationId: 'org_1',
              parentFolderId: 'designs',
              apiKey: 'key_1',
              createdAt: 1738695077691,
              lastUpdated: 1738695077691,
              ancestors: ['root', 'designs'],
              accessType: 'public',
              inheritAccessFromParent: true,
            },
          ],
        },
      ],
    },
  }),
  update: operation({
    spec: '9.3',
    path: '/organizations/folders/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'organizations',
    title: 'Update Folders',
    summary: 'Renames folders and moves them.',
    description:
      'A moved folder takes everything inside it along; what inherits access follows the new parent. `parentFolderId: "root"` moves it to the top.',
    input: Type.Object({
      organizationId: OrganizationId,
      folders: batch(FolderChange, 'The folders to change.'),
    }),
    output: Outcomes,
    message: 'Folder Updated successfully.',
    example: {
      input: { organizationId: 'org_1', folders: [{ folderId: 'drafts', parentFolderId: 'root' }] },
      output: { drafts: { success: true, id: 'drafts', message: 'Folder Updated.' } },
    },
  }),
  delete: operation({
    spec: '9.4',
    path: '/organizations/folders/delete',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'organizations',
    title: 'Delete Folder',
    summary: 'Deletes a folder with its subfolders and their documents.',
    input: Type.Object({ organizationId: OrganizationId, folderId: FolderId }),
    output: NoData,
    message: 'Folder deletion initiated successfully.',
    errors: [{ status: 'NOT_FOUND', message: 'Folder not found.' }],
    example: { input: { organizationId: 'org_1', folderId: 'drafts' }, output: null },
  }),
  updateAccess: operation({
    spec: '9.5',
    path: '/organizations/folders/access/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'organizations',
    title: 'Update Folder Access',
    summary: 'Sets who may enter folders, or lets them inherit it.',
    description:
      'Everything inside that inherits follows. `inheritFromParent: true` drops the own type and wins over `accessType`.',
    input: Type.Object({
      organizationId: OrganizationId,
      folderIds: idBatch('Ids of the folders to change.'),
      accessType: Type.Optional(AccessType),
      inheritFromParent: v2Only(
        flag(
          'True: the folder inherits `accessType` from its parent again. Takes precedence over `accessType`.',
        ),
      ),
    }),
    output: mapOf(FolderAccessOutcome),
    message: 'Updated access for folders successfully.',
    v2Message: { message: 'Folder access type updated.', when: 'with `inheritFromParent`' },
    errors: [{ status: 'INVALID_ARGUMENT', message: 'accessType is required.' }],
    example: {
      input: { organizationId: 'org_1', folderIds: ['designs'], accessType: 'restricted' },
      output: {
        designs: { success: true, accessType: 'restricted', message: 'Folder access type updated.' },
      },
    },
  }),
}
