import Type from 'typebox'
import { nonBlankName, PageSize, PageToken } from '../base/fields.ts'
import { ChosenId, VersionId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import { editorRef, EditorVersion } from '../resources/crdt.ts'
import { NoData } from '../resources/outcomes.ts'
import { busy, editorNotFound, editorTooLarge, tooSlow, unreadable } from './crdt-errors.ts'

const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'my-note' }
const version = {
  versionId: 'ver_5k2q9x0c7b1m4n8z3v6t',
  name: 'First draft',
  type: 'text',
  createdAt: 1737369000000,
  createdBy: { userId: 'user_1', name: 'Ada' },
} as const

const unreadableEditor = { unreadableEditorIds: [editor.editorId] }
const unreadableVersion = { unreadableVersionIds: [version.versionId] }

export const crdtVersions = {
  add: operation({
    spec: '17.4',
    path: '/crdt/versions/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add CRDT Version',
    summary: 'Saves the current content of an editor as a named version.',
    description:
      'Several versions can have the same name. An editor has at most 1,000 versions. Without `userId`, the version has no `createdBy`.',
    input: Type.Object({
      ...editorRef,
      name: nonBlankName('Display name of the version.'),
      userId: Type.Optional(described(ChosenId, 'Id of the user who saves the version.')),
    }),
    output: EditorVersion,
    message: 'Version added successfully.',
    errors: [
      editorNotFound,
      { status: 'RESOURCE_EXHAUSTED', message: 'The editor has reached its maximum number of versions.' },
      unreadable(unreadableEditor),
      tooSlow(unreadableEditor),
      busy,
    ],
    example: { input: { ...editor, name: 'First draft', userId: 'user_1' }, output: version },
  }),
  get: operation({
    spec: '17.5',
    path: '/crdt/versions/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Get CRDT Versions',
    summary: 'Reads the versions of an editor, or the content of one version.',
    description:
      'The newest versions come first, without content. With `versionId`, the answer is only that version, with `data`. A version that does not exist is left out.',
    input: Type.Object({
      ...editorRef,
      versionId: Type.Optional(
        described(ChosenId, 'Id of the version to read with its content. Default: list all versions.'),
      ),
      pageSize: Type.Optional(PageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(EditorVersion),
    paging: ['nextPageToken'],
    message: 'Versions retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      unreadable(unreadableVersion),
      tooSlow(unreadableVersion),
      busy,
    ],
    example: {
      input: { ...editor, versionId: version.versionId },
      output: [{ ...version, data: 'Hello' }],
    },
  }),
  restore: operation({
    spec: '17.6',
    path: '/crdt/versions/restore',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Restore CRDT Version',
    summary: 'Restores an editor to a version.',
    description:
      'The restore is one change of the stored Yjs document that keeps unchanged parts, so open editors receive it as a normal edit. To be able to return to the current content, save a version first.',
    input: Type.Object({ ...editorRef, versionId: VersionId }),
    output: NoData,
    message: 'Version restored successfully.',
    errors: [
      editorNotFound,
      { status: 'NOT_FOUND', message: 'Version not found.' },
      editorTooLarge,
      unreadable(unreadableEditor),
      tooSlow(unreadableEditor),
      busy,
    ],
    example: { input: { ...editor, versionId: version.versionId }, output: null },
  }),
}
