import { ApiError } from '@plenum/protocol'

/** The user ids under which a tenant's backend writes. No user token may carry one, so a client cannot write as the backend. */
export const backendUserIds = {
  /** For writes on sockets that a backend opened with the credentials of its API key. */
  socket: 'server',
  /** For writes of operations over REST. */
  rest: 'rest-api',
} as const

const reserved: ReadonlySet<string> = new Set(Object.values(backendUserIds))

export const isBackendUserId = (userId: string): boolean => reserved.has(userId)

/** Throws if the user id is reserved for backends. */
export function refuseBackendUserId(userId: string): void {
  if (!isBackendUserId(userId)) return
  const reason = 'writes of your backend are stored under this name.'
  throw new ApiError('INVALID_ARGUMENT', `userId must not be "${userId}": ${reason}`)
}
