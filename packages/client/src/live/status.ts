import { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
import { closeCodes } from '@plenum/protocol/realtime'

/**
 * How it stands with a connection, a document or an editor. Until `denied` (no valid token, or no permission), `failed`
 * or `closed`, it connects again by itself.
 */
export type Status = 'connecting' | 'connected' | 'reconnecting' | 'denied' | 'failed' | 'closed'

/** Why the server ended it; the codes are `closeCodes`. */
export interface Ending {
  code: number
  reason: string
}

const errorStatusOf: Readonly<Record<number, ErrorStatus>> = {
  [closeCodes.badMessage]: 'INVALID_ARGUMENT',
  [closeCodes.unauthenticated]: 'UNAUTHENTICATED',
  [closeCodes.permissionDenied]: 'PERMISSION_DENIED',
  [closeCodes.gone]: 'NOT_FOUND',
  [closeCodes.invalidUpdate]: 'INVALID_ARGUMENT',
  [closeCodes.tooMany]: 'RESOURCE_EXHAUSTED',
  [closeCodes.rateLimited]: 'RESOURCE_EXHAUSTED',
}

/** Whether trying again changes nothing. */
export const isFinal = ({ code }: Ending): boolean => code >= 4400 && code <= 4499

export const statusAfter = ({ code }: Ending): 'denied' | 'failed' =>
  code === closeCodes.unauthenticated || code === closeCodes.permissionDenied ? 'denied' : 'failed'

export const errorOf = ({ code, reason }: Ending): ApiError =>
  new ApiError(errorStatusOf[code] ?? 'UNAVAILABLE', reason || `The server closed with code ${code}.`, {
    details: { code },
  })
