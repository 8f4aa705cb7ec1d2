import { DEFAULT_MIGRATION_TABLE, type Kysely, Migrator, sql } from 'kysely'
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
import type { Db } from '../engine/db.ts'
import { OpenError } from '../engine/failures.ts'
import type { ColumnTypes, Migration } from './migration.ts'

const types: Record<ColumnTypes['dialect'], ColumnTypes> = {
  sqlite: { dialect: 'sqlite', id: 'text', bytes: 'blob' },
  postgres: { dialect: 'postgres', id: sql`text collate "C"`, bytes: 'bytea' },
}

/** The migrations run in this order, forward only. All that are missing in a database run in one transaction. */
const migrations: Record<string, Migration> = {
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
}

/**
 * Compares the schema of the database with this version of Plenum. `empty`: no server has started with this database yet.
 * `newer`: a newer version has upgraded it.
 */
export async function schemaState(db: Db): Promise<'empty' | 'older' | 'current' | 'newer'> {
  const found = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!found.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return 'empty'
  const { rows } = await sql<{
    name: string
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  if (rows.some(({ name }) => !(name in migrations))) return 'newer'
  return rows.length < Object.keys(migrations).length ? 'older' : 'current'
}

/** Migrates the database to the newest schema. Servers that start at the same time wait for each other. */
export async function migrate(db: Kysely<unknown>, dialect: ColumnTypes['dialect']): Promise<void> {
  const provider = {
    getMigrations: async () =>
      Object.fromEntries(
        Object.entries(migrations).map(([name, { up }]) => [
          name,
          { up: (db: Kysely<unknown>) => up(db, types[dialect]) },
        ]),
      ),
  }
  if ((await schemaState(db)) === 'newer') {
    throw new OpenError(
      'A newer version of Plenum has upgraded this database. Use that version, or restore a backup from before.',
    )
  }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  if (error) throw error
}
