import { ApiError, type UserInput } from '@plenum/protocol'
import { canWrite, decide } from '../../access/permissions.ts'
import { loadSubjects } from '../../access/subjects.ts'
import type { Call, UserCaller } from '../../calls/call.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import { slices } from '../../store/engine/slices.ts'
import type { DocumentRef } from '../../store/refs.ts'
import * as users from '../../store/users/users.ts'
import { unique } from '../shared/batches.ts'

/** The users with these ids who may not write in the document. */
export async function findDenied(
  db: Db,
  caller: ApiKey,
  { organizationId, documentId }: DocumentRef,
  userIds: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  const ids = unique(userIds)
  const subjects = await loadSubjects(db, caller, organizationId, ids, { documentIds: [documentId] })
  const mayWrite = (userId: string) => {
    const subject = subjects?.document(userId, documentId)
    return subject !== undefined && canWrite(decide(subject, now / 1000))
  }
  return new Set(ids.filter((userId) => !mayWrite(userId)))
}

/** Creates a profile for each author who has none. */
export async function ensureAuthors(
  db: Db,
  apiKey: string,
  authors: readonly UserInput[],
  now: number,
): Promise<void> {
  const distinct = [...new Map(authors.map((author) => [author.userId, author])).values()]
  await users.ensure(db, apiKey, distinct, now)
}

/** A user whom the input names, and the field that does. */
export interface NamedUser {
  userId: string
  field: string
}

/**
 * Which of these ids belong to a user. For a calling user, the users of other organizations do not exist: an app may keep its
 * customers apart as organizations (spec 19.0.5).
 */
export async function findExisting(
  { db, caller: { apiKey, user } }: Pick<Call, 'db'> & { caller: UserCaller },
  organizationId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>(user && userIds.includes(user.userId) ? [user.userId] : [])
  for (const ids of slices(unique(userIds))) {
    await yieldIfLate()
    const some = user
      ? await users.findKnownIn(db, apiKey, organizationId, ids)
      : await users.findExisting(db, apiKey, ids)
    for (const id of some) found.add(id)
  }
  return found
}

export function requireExisting(existing: ReadonlySet<string>, named: readonly NamedUser[]): void {
  const missing = named.find(({ userId }) => !existing.has(userId))
  if (!missing) return
  throw new ApiError('INVALID_ARGUMENT', `${missing.field}: the user ${missing.userId} does not exist.`)
}
