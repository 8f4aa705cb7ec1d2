import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { CrdtRecord, EditorContent, editorFilter } from '../resources/crdt.ts'
import { NoData } from '../resources/outcomes.ts'
import { busy, editorNotFound, editorTooLarge, tooSlow, unreadable } from './crdt-errors.ts'

const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'my-note' }

const wrongData = [
  { status: 'INVALID_ARGUMENT', message: 'Data must be a string for type text.' },
  { status: 'INVALID_ARGUMENT', message: 'Data must be a string for type xml.' },
  { status: 'INVALID_ARGUMENT', message: 'Data must be an object for type map.' },
  { status: 'INVALID_ARGUMENT', message: 'Data must be an array for type array.' },
] as const
const unreadableEditorIds = ['my-note']

export const crdt = {
  add: operation({
    spec: '17.1',
    path: '/crdt/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    size: 'large',
    title: 'Add CRDT Data',
    summary: 'Stores the first content of an editor.',
    description:
      'The content becomes a Yjs document with a shared type of the given `type` at `contentKey`. The organization and the document are created if they do not exist.',
    input: EditorContent,
    output: NoData,
    message: 'CRDT data added successfully.',
    errors: [
      { status: 'ALREADY_EXISTS', message: 'CRDT data already exists for this editor ID.' },
      { status: 'INVALID_ARGUMENT', message: 'Editor ID is required.' },
      ...wrongData,
      editorTooLarge,
      tooSlow({ unreadableEditorIds }),
      busy,
    ],
    example: { input: { ...editor, data: 'Hello', type: 'text' }, output: null },
  }),
  get: operation({
    spec: '17.2',
    path: '/crdt/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Get CRDT Data',
    summary: 'Reads the content of one editor, or of every editor of a document.',
    description:
      'Editors come in the order of their ids. An editor that does not exist is left out. While nothing has been written at the declared `contentKey`, the content is read where the editor binding writes by default, such as `default` for Tiptap.',
    input: Type.Object(editorFilter),
    output: Type.Array(CrdtRecord),
    message: 'CRDT data retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Organization ID is required' },
      {
        status: 'INVALID_ARGUMENT',
        message: 'The CRDT data of this document is too large for one answer. Read it by editorId.',
      },
      unreadable({ unreadableEditorIds, data: [] }),
      tooSlow({ unreadableEditorIds, data: [] }),
      {
        status: 'DEADLINE_EXCEEDED',
        message: 'The CRDT data of this document takes too long for one answer. Read it by editorId.',
      },
      busy,
    ],
    example: {
      input: editor,
      output: [
        {
          data: 'Hello',
          id: 'my-note',
          lastUpdate: '2025-01-20T10:30:00.000Z',
          lastUpdatedBy: 'user-123',
          sessionId: 's-1',
        },
      ],
    },
  }),
  update: operation({
    spec: '17.3',
    path: '/crdt/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    size: 'large',
    title: 'Update CRDT Data',
    summary: 'Replaces the content of an editor.',
    description:
      'The write is one change of the stored Yjs document that keeps unchanged parts, so open editors receive it as a normal edit. Without `contentKey`, it replaces the content that Get CRDT Data returns. In XML, formats of text and the types of attributes stay where the XML does not change them. `type` must be the type of the content. A `contentKey` other than the declared one is accepted only while the declared one is empty.',
    input: EditorContent,
    output: NoData,
    message: 'CRDT data updated successfully.',
    errors: [
      editorNotFound,
      { status: 'INVALID_ARGUMENT', message: 'Type does not match the stored data: "content" holds text.' },
      {
        status: 'INVALID_ARGUMENT',
        message:
          'Content key does not match the stored data: "content" is declared and holds text. Empty "content" before you declare another one.',
      },
      ...wrongData,
      editorTooLarge,
      unreadable({ unreadableEditorIds }),
      tooSlow({ unreadableEditorIds }),
      busy,
    ],
    example: { input: { ...editor, data: 'Hello world', type: 'text' }, output: null },
  }),
}
