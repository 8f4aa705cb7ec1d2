import type { NotificationPreferences } from '@plenum/protocol'
import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import { findViewers } from '../../access/viewers.ts'
import { readersOf } from '../../events/inbox/recipients.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Audience } from '../../store/comments/audience.ts'
import type { Db } from '../../store/engine/db.ts'
import { slices } from '../../store/engine/slices.ts'
import * as configs from '../../store/notifications/configs.ts'
import type { DocumentRef } from '../../store/refs.ts'
import type { PreferencesByUser, WebhookData } from './webhook-data.ts'

/** Users in one query. */
const usersPerQuery = 100
/** The preferences of users as JSON. Each may have 20 channels. Further users are left out. */
const maxPreferenceLength = 32 * 1024

interface CheckDeps {
  db: Db
  now: number
  permissionProvider: PermissionProvider
}

/**
 * The users who may not read the document, or not see what only this audience may see. As for inboxes, stored grants and the
 * permission provider decide (spec 18.7.1).
 */
export async function findDeniedUsers(
  { db, now, permissionProvider }: CheckDeps,
  key: ApiKey,
  document: DocumentRef,
  audience: Audience | null,
  userIds: readonly string[],
): Promise<string[]> {
  const { apiKey } = key
  const { organizationId } = document
  const denied: string[] = []
  for (const some of slices(userIds, usersPerQuery)) {
    await yieldIfLate()
    const isViewer = await findViewers(db, { apiKey, organizationId, now }, audience, some)
    const users = some.map((userId) => ({ userId, email: null }))
    const readers = await permissionProvider.check(key, async (answers) =>
      users.filter(await readersOf(db, key, document, users, now, answers)),
    )
    // Without the answer of the provider, users would count as denied. The job runs again after the restart.
    if (permissionProvider.isStopped) throw new Error('The server stops.')
    const allowed = new Set(readers.map(({ userId }) => userId))
    denied.push(...some.filter((userId) => !allowed.has(userId) || !isViewer(userId)))
  }
  return denied
}

type Preferences = Pick<
  WebhookData,
  'usersOrganizationNotificationsConfig' | 'usersDocumentNotificationsConfig'
>

/**
 * What the users have chosen (spec 18.5). If one of them has chosen for the document, the preferences for the document, else
 * those for the organization.
 */
export async function findPreferences(
  db: Db,
  apiKey: string,
  document: DocumentRef,
  userIds: readonly string[],
): Promise<Preferences> {
  const chosen: [string, NotificationPreferences][] = []
  let isForDocument = false
  for (const some of slices(userIds, usersPerQuery)) {
    const found = await configs.findChosen(db, apiKey, document, some)
    isForDocument ||= found.document.size > 0
    for (const userId of new Set([...found.organization.keys(), ...found.document.keys()]))
      chosen.push([userId, { ...found.organization.get(userId), ...found.document.get(userId) }])
  }
  let length = 0
  const fitting = chosen.filter((one) => (length += JSON.stringify(one).length) <= maxPreferenceLength)
  if (fitting.length === 0) return {}
  const preferences: PreferencesByUser = Object.fromEntries(fitting)
  return isForDocument
    ? { usersDocumentNotificationsConfig: preferences }
    : { usersOrganizationNotificationsConfig: preferences }
}
