import type { UserCaller } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import type { Filter } from '../../store/notifications/lists.ts'
import { findAddressee } from '../../store/notifications/recipients.ts'
import { actingUserId } from '../shared/calling-user.ts'
import { unique } from '../shared/batches.ts'

interface Filters {
  organizationId: string
  documentId?: string
  locationId?: string | number
  userId?: string
  notificationIds?: string[]
}

/** The filter that the fields of a request describe. A user has only the own inbox. */
export async function filterOf(
  db: Db,
  { apiKey, user }: Pick<UserCaller, 'apiKey' | 'user'>,
  input: Filters,
): Promise<Filter> {
  const { organizationId, documentId, locationId, notificationIds } = input
  const userId = user ? actingUserId(user, input.userId) : input.userId
  return {
    organizationId,
    documentId,
    locationId: locationId === undefined ? undefined : String(locationId),
    ids: notificationIds && unique(notificationIds),
    user: userId === undefined ? undefined : await findAddressee(db, apiKey, userId),
  }
}
