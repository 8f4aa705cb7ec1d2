import type { Access } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Callers } from './call.ts'

/** The name of a caller. It separates the caller's idempotency keys and page tokens from those of all others. */
export function callerScope(access: Access, caller: Callers[Access]): string {
  const { user } = caller as Callers['user']
  const lane = callerLane(access, caller)
  return user ? `${lane}/user/${user.userId}` : lane
}

/** The lane in which a caller takes turns with others: all callers of an API key share one. */
export function callerLane(access: Access, caller: Callers[Access]): string {
  switch (access) {
    case 'public':
      return `public/${(caller as Callers['public']).address}`
    case 'workspace':
      return `workspace/${(caller as Callers['workspace']).workspaceId}`
    default:
      return (caller as ApiKey).apiKey
  }
}
