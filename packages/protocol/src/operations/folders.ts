import Type from 'typebox'
import { AccessType, CreateOrganization, PageSize, PageToken } from '../base/fields.ts'
import { ChosenId, FolderId, idBatch, OrganizationId } from '../base/ids.ts'
import { allOf, unless } from '../base/conditions.ts'
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
    summary: 'Adds folders at the top level or inside other folders.',
    description:
      'Folders are added in the given order, so a parent can come before its children in the same call. Without `accessType`, a folder inherits from its parent, and a top-level folder gets the default of the API key. Folders nest up to 32 levels deep.',
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
    summary: 'Reads all folders of an organization, or one folder with its subfolders.',
    description:
      'Without `folderId`, the answer is a flat list of all folders; with `maxDepth` or `rootFoldersOnly`, the answer has the top-level folders, nested to that depth. With `folderId`, the answer is that folder with its `subFolders`, one level deep unless `maxDepth` is sent. Without `pageSize`, everything comes in one answer. With `pageSize`, a page has that many folders of the outermost list: all folders, the top-level folders, or the direct subfolders of `folderId`. An answer of more than 100,000 folders or 64 MiB is refused.',
    input: Type.Object({
      organizationId: OrganizationId,
      folderId: Type.Optional(
        described(ChosenId, 'Id of the folder to read with its subfolders. Default: all folders.'),
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
    summary: 'Renames and moves folders.',
    description:
      'A folder moves with everything inside it, and inherited access follows the new parent. `parentFolderId: "root"` moves a folder to the top level.',
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
    summary: 'Sets the access type of folders, or lets them inherit it.',
    description:
      "Folders and documents inside that inherit get the new type too. `inheritFromParent: true` removes the folder's own type and takes precedence over `accessType`.",
    input: Type.Object(
      {
        organizationId: OrganizationId,
        folderIds: idBatch('Ids of the folders to change.'),
        accessType: Type.Optional(AccessType),
        inheritFromParent: v2Only(
          flag(
            'True: the folder inherits `accessType` from its parent again. Takes precedence over `accessType`.',
          ),
        ),
      },
      {
        'x-conditions': unless('inheritFromParent', true, allOf('accessType')),
        'x-v1-conditions': { required: ['accessType'] },
      },
    ),
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
