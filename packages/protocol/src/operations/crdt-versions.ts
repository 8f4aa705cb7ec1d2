import Type from 'typebox'
import { nonBlankName, PageSize, PageToken } from '../base/fields.ts'
import { ClientId, VersionId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import { editorRef, EditorVersion } from '../resources/crdt.ts'
import { NoData } from '../resources/outcomes.ts'

const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'my-note' }
const version = {
  versionId: 'ver_5k2q9x0c7b1m4n8z3v6t',
  name: 'First draft',
  type: 'text',
  createdAt: 1737369000000,
  createdBy: { userId: 'user_1', name: 'Ada' },
} as const

const noEditor = { status: 'NOT_FOUND', message: 'No CRDT data found for this editor ID.' } as const
const ofEditor = { details: { unreadableEditorIds: ['my-note'] } }
const ofVersion = { details: { unreadableVersionIds: [version.versionId] } }
const damaged = { status: 'INTERNAL', message: 'The stored CRDT data cannot be read.' } as const
const tooSlow = { status: 'DEADLINE_EXCEEDED', message: 'The CRDT data takes too long to process.' } as const
const busy = {
  status: 'UNAVAILABLE',
  message: 'The server is busy with other CRDT data. Try again.',
} as const
const unreadable = [{ ...damaged, ...ofEditor }, { ...tooSlow, ...ofEditor }, busy]

export const crdtVersions = {
  add: operation({
    spec: '17.4',
    path: '/crdt/versions/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add CRDT Version',
    summary: 'Keeps the content of an editor, as it is now, under a name.',
    description:
      'Names need not differ. An editor has at most 1,000 versions. `userId` names the user who saves the version; without it the version has no `createdBy`.',
    input: Type.Object({
      ...editorRef,
      name: nonBlankName('Display name of the version.'),
      userId: Type.Optional(described(ClientId, 'Id of the user who saves the version.')),
    }),
    output: EditorVersion,
    message: 'Version added successfully.',
    errors: [
      noEditor,
      { status: 'RESOURCE_EXHAUSTED', message: 'The editor has reached its maximum number of versions.' },
      ...unreadable,
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
    summary: 'Reads the versions of an editor, or the content of one.',
    description:
      'The newest come first, without content. With `versionId` only that one comes, with `data`. What does not exist is left out.',
    input: Type.Object({
      ...editorRef,
      versionId: Type.Optional(
        described(ClientId, 'Id of the version to read with its content. Default: list all versions.'),
      ),
      pageSize: Type.Optional(PageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(EditorVersion),
    paging: ['nextPageToken'],
    message: 'Versions retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      { ...damaged, ...ofVersion },
      { ...tooSlow, ...ofVersion },
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
    summary: 'Gives an editor the content of a version back.',
    description:
      'Written as one change of the stored Yjs document that keeps what is equal, so open editors follow it like any other change and nothing is lost: save a version first to be able to return.',
    input: Type.Object({ ...editorRef, versionId: VersionId }),
    output: NoData,
    message: 'Version restored successfully.',
    errors: [
      noEditor,
      { status: 'NOT_FOUND', message: 'Version not found.' },
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'The editor may have at most 33554432 bytes (LIMIT_EDITOR_BYTES).',
      },
      ...unreadable,
    ],
    example: { input: { ...editor, versionId: version.versionId }, output: null },
  }),
}
