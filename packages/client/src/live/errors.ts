import { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
import { closeCodes } from '@plenum/protocol/realtime'
import type { Ending } from './status.ts'

const statusByCode: Readonly<Record<number, ErrorStatus>> = {
  [closeCodes.badMessage]: 'INVALID_ARGUMENT',
  [closeCodes.unauthenticated]: 'UNAUTHENTICATED',
  [closeCodes.permissionDenied]: 'PERMISSION_DENIED',
  [closeCodes.gone]: 'NOT_FOUND',
  [closeCodes.invalidUpdate]: 'INVALID_ARGUMENT',
  [closeCodes.tooMany]: 'RESOURCE_EXHAUSTED',
  [closeCodes.rateLimited]: 'RESOURCE_EXHAUSTED',
}

/** What the developer of the application can do, by close code. */
const adviceByCode: Readonly<Record<number, string>> = {
  [closeCodes.badMessage]: 'Use the same version of the client and the server.',
  [closeCodes.permissionDenied]: 'permissions.explain says why. Give the user access with permissions.add.',
  [closeCodes.gone]:
    'Close the document. Opening it again creates a new, empty one if the user may create documents.',
  [closeCodes.invalidUpdate]:
    'The local changes stay in `editor.doc`. Reload the page to continue with the content on the server.',
  [closeCodes.tooMany]: 'Close documents and editors that are not in use, or raise the limit on the server.',
}

/** Returns an error with the status that belongs to the close code, and with the code in its `details`. */
export const errorWithCode = ({ code }: Ending, message: string): ApiError =>
  new ApiError(statusByCode[code] ?? 'UNAVAILABLE', message, { details: { code } })

export const reasonOf = ({ code, reason }: Ending): string =>
  reason || `The server gave no reason (code ${code}).`

/** Returns an error that says why the server ended something, and what to do. `name` names the document or editor. */
export function endingError(ending: Ending, name?: string): ApiError {
  const prefix = name === undefined ? '' : `${name}: `
  const advice = adviceByCode[ending.code]
  const suffix = advice === undefined ? '' : ` ${advice}`
  return errorWithCode(ending, `${prefix}${reasonOf(ending)}${suffix}`)
}

const transientStatuses: readonly ErrorStatus[] = [
  'ABORTED',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]

/** Whether the same call may succeed later, although nobody changes anything. */
export const isTransient = ({ status }: ApiError): boolean => transientStatuses.includes(status)
