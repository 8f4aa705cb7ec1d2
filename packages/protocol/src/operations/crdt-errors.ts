import type { ErrorExample } from '../base/operation.ts'

export const editorNotFound = {
  status: 'NOT_FOUND',
  message: 'No CRDT data found for this editor ID.',
} satisfies ErrorExample

/** The number in the message is the default of the setting. */
export const editorTooLarge = {
  status: 'RESOURCE_EXHAUSTED',
  message: 'The editor may have at most 33554432 bytes (LIMIT_EDITOR_BYTES).',
} satisfies ErrorExample

export const busy = {
  status: 'UNAVAILABLE',
  message: 'The server is busy with other CRDT data. Try again.',
} satisfies ErrorExample

export const unreadable = (details: object) =>
  ({ status: 'INTERNAL', message: 'The stored CRDT data cannot be read.', details }) satisfies ErrorExample

export const tooSlow = (details: object) =>
  ({
    status: 'DEADLINE_EXCEEDED',
    message: 'The CRDT data takes too long to process.',
    details,
  }) satisfies ErrorExample

/** The errors of a range in an editor. `path` names the range in the input. */
export const rangeErrors = (path: string): ErrorExample[] => [
  { status: 'INVALID_ARGUMENT', message: `${path}.editorId: the editor notes does not exist.` },
  { status: 'INVALID_ARGUMENT', message: `${path}.head must be at most 120, the length of the text.` },
  {
    status: 'INVALID_ARGUMENT',
    message: `${path}.anchor is not in the editor. Wait until the editor is saved.`,
  },
  unreadable({ unreadableEditorIds: ['notes'] }),
  tooSlow({ unreadableEditorIds: ['notes'] }),
  busy,
]
