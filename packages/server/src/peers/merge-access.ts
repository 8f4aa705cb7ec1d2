import type { BusMessage } from '../bus.ts'

/** The changes of access of one API key. */
interface Changes {
  userIds: Set<string>
  organizationIds: Set<string>
  /** Whether one of them concerns all users. */
  isForAll: boolean
}

/**
 * Merges the changes of access of each API key: each would visit all its open documents, also those that only one user has
 * open. Changes that name documents visit only these, and stay as they are. The merged ones come last: a client whose
 * document was deleted by the same transaction learns of that, and not that it lost access.
 */
export function mergeAccess(messages: readonly BusMessage[]): BusMessage[] {
  const merged: BusMessage[] = []
  const byApiKey = new Map<string, Changes>()
  for (const message of messages) {
    if (message.kind !== 'access' || message.documentIds) {
      merged.push(message)
      continue
    }
    const { apiKey, userIds, organizationIds } = message
    const changes = byApiKey.get(apiKey) ?? {
      userIds: new Set(),
      organizationIds: new Set(),
      isForAll: false,
    }
    byApiKey.set(apiKey, changes)
    for (const id of userIds ?? []) changes.userIds.add(id)
    for (const id of organizationIds ?? []) changes.organizationIds.add(id)
    changes.isForAll ||= !userIds && !organizationIds
  }
  for (const [apiKey, { userIds, organizationIds, isForAll }] of byApiKey) {
    const access = { kind: 'access', apiKey } as const
    if (isForAll) merged.push(access)
    else {
      if (userIds.size > 0) merged.push({ ...access, userIds: [...userIds] })
      if (organizationIds.size > 0) merged.push({ ...access, organizationIds: [...organizationIds] })
    }
  }
  return merged
}
