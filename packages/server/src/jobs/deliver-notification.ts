import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import { deliver } from '../events/inbox/delivery.ts'
import * as pending from '../store/notifications/pending.ts'
import { attemptsOfOneHour, type JobHandler } from './job.ts'

export interface NotificationDeps {
  permissionProvider: PermissionProvider
}

/** Puts a notification about an event into the inboxes of its recipients (spec 18.7). */
export const deliverNotification = ({
  permissionProvider,
}: NotificationDeps): JobHandler<'notification.deliver'> => ({
  // An email may depend on it.
  maxAttempts: attemptsOfOneHour,
  run: async ({ job, ...deps }) =>
    (await deliver({ ...deps, permissionProvider }, job)) ? 'settled' : undefined,

  async abandon({ database, job: { apiKey, payload } }) {
    const { organizationId, notificationId } = payload
    await database.write((db) => pending.remove(db, apiKey, organizationId, notificationId), apiKey)
  },
})
