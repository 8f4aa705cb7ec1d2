import type { Access } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Callers } from './call.ts'

/** The name of a caller. It separates the caller's idempotency keys, page tokens and turns from those of all others. */
export function callerScope(access: Access, caller: Callers[Access]): string {
  switch (access) {
    case 'public':
      return `public/${(caller as Callers['public']).address}`
    case 'workspace':
      return `workspace/${(caller as Callers['workspace']).workspaceId}`
    default:
      return (caller as ApiKey).apiKey
  }
}
