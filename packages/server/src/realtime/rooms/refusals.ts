import type { Fault } from '../../crdt/updates/fault.ts'

/** The fault of an update from a client that may not write. */
export const readOnly = {
  code: 'read_only',
  message: 'The user may read this document, but not change it.',
} as const satisfies Fault

/** The fault of an update whose missing update did not arrive in time. */
export const missingUpdate = {
  code: 'gap',
  message: 'The update depends on an earlier one the server has not received.',
} as const satisfies Fault

/** The fault of an update under a Yjs client id with which another user has written on another server at the same moment. */
export const takenClientId = {
  code: 'taken_client',
  message: 'Another user has written with the same Yjs client id. Load the document again.',
} as const satisfies Fault

/** The sender would become the owner of a Yjs client id, but the room may lack rows that another user wrote under it. */
export const unknownOwner = {
  code: 'foreign_client',
  message: 'The owner of a Yjs client id is not known yet.',
} as const satisfies Fault

/** Whether the update may be accepted once an earlier update has arrived. */
export const isOutOfOrder = ({ code }: Fault) => code === 'gap' || code === 'future_delete'

/** Whether the update may be valid for a server that has read more of the log. */
export const mayBeBehind = (fault: Fault) => isOutOfOrder(fault) || fault.code === 'foreign_client'

/** Whether an honest client can cause the fault. Then its connection stays open. */
export const isRecoverable = (fault: Fault) => isOutOfOrder(fault) || recoverable.has(fault.code)
const recoverable: ReadonlySet<Fault['code']> = new Set([
  'foreign_client',
  'taken_client',
  'read_only',
  'full',
  'too_many_ids',
])
