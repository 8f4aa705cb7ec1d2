import * as foundation from './0001-foundation.ts'
import * as notifications from './0002-notifications.ts'
import * as bareDomains from './0003-bare-domains.ts'
import * as folderOrder from './0004-folder-order.ts'
import * as openings from './0005-openings.ts'
import * as largeEditors from './0006-large-editors.ts'
import * as deletions from './0007-deletions.ts'
import * as sharedAddresses from './0008-shared-addresses.ts'
import * as hiddenNotifications from './0009-hidden-notifications.ts'
import * as usersOfDocuments from './0010-users-of-documents.ts'
import * as grantsOfUsers from './0011-grants-of-users.ts'
import * as versionAuthors from './0012-version-authors.ts'
import * as locations from './0013-locations.ts'
import * as versionOrder from './0014-version-order.ts'
import * as comments from './0015-comments.ts'
import * as activities from './0016-activities.ts'
import * as inbox from './0018-inbox.ts'
import * as erasures from './0019-erasures.ts'
import * as fairJobs from './0020-fair-jobs.ts'
import * as jobLanes from './0021-job-lanes.ts'
import * as deliveries from './0022-deliveries.ts'
import * as webhookEndpoints from './0023-webhook-endpoints.ts'
import * as emails from './0024-emails.ts'
import * as notificationEmails from './0026-notification-emails.ts'
import * as digestOrder from './0027-digest-order.ts'
import * as signals from './0028-signals.ts'
import * as tenantKeys from './0029-tenant-keys.ts'
import * as addressCalls from './0030-address-calls.ts'
import * as imports from './0031-imports.ts'
import * as defaultRoles from './0032-default-roles.ts'
import * as eventNames from './0033-event-names.ts'
import * as eventSnapshots from './0034-event-snapshots.ts'
import * as eventSnapshotsById from './0035-event-snapshots-by-id.ts'
import type { Migrations } from './migration.ts'

/** The migrations run in this order, forward only. */
export const migrations: Migrations = {
  '0001-foundation': foundation,
  '0002-notifications': notifications,
  '0003-bare-domains': bareDomains,
  '0004-folder-order': folderOrder,
  '0005-openings': openings,
  '0006-large-editors': largeEditors,
  '0007-deletions': deletions,
  '0008-shared-addresses': sharedAddresses,
  '0009-hidden-notifications': hiddenNotifications,
  '0010-users-of-documents': usersOfDocuments,
  '0011-grants-of-users': grantsOfUsers,
  '0012-version-authors': versionAuthors,
  '0013-locations': locations,
  '0014-version-order': versionOrder,
  '0015-comments': comments,
  '0016-activities': activities,
  '0018-inbox': inbox,
  '0019-erasures': erasures,
  '0020-fair-jobs': fairJobs,
  '0021-job-lanes': jobLanes,
  '0022-deliveries': deliveries,
  '0023-webhook-endpoints': webhookEndpoints,
  '0024-emails': emails,
  '0026-notification-emails': notificationEmails,
  '0027-digest-order': digestOrder,
  '0028-signals': signals,
  '0029-tenant-keys': tenantKeys,
  '0030-address-calls': addressCalls,
  '0031-imports': imports,
  '0032-default-roles': defaultRoles,
  '0033-event-names': eventNames,
  '0034-event-snapshots': eventSnapshots,
  '0035-event-snapshots-by-id': eventSnapshotsById,
}
