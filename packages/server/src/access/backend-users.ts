/** The names under which a tenant's backend writes. No user token may carry one, so a client cannot write as the backend. */
export const backendUserIds = {
  /** A backend that connects with the credentials of the API key. */
  socket: 'server',
  /** Operations of the REST interface. */
  rest: 'rest-api',
} as const

const reserved: ReadonlySet<string> = new Set(Object.values(backendUserIds))

export const isBackendUserId = (userId: string): boolean => reserved.has(userId)
