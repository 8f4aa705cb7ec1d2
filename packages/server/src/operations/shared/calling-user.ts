import { ApiError } from '@plenum/protocol'
import type { CallingUser } from '../../calls/call.ts'

export const denied = (message: string) => new ApiError('PERMISSION_DENIED', message)

/** The user for whom the call acts: the calling user, or the user that a backend must name. */
export function actingUserId(user: CallingUser | undefined, sent: string | undefined): string {
  if (user && sent !== undefined && sent !== user.userId)
    throw denied('userId must be the user of the token.')
  const userId = user?.userId ?? sent
  if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'userId is required.')
  return userId
}

/** Refuses fields that only backends may send: a user cannot change the past or act for others. */
export function refuseFields<T extends object>(
  user: CallingUser | undefined,
  sent: T,
  fields: readonly (keyof T & string)[],
  path = '',
): void {
  const found = user && fields.find((field) => sent[field] !== undefined)
  if (found) throw denied(`${path}${found} can only be sent with the credentials of an API key.`)
}
