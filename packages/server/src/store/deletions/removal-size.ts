import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import type { Scope } from './deletions.ts'
import * as folders from '../documents/folders.ts'
import { addressee, namesOf } from '../notifications/recipients.ts'
import { grantsInside, notificationsOf } from './removal.ts'
import { grantsByUser } from '../engine/some-rows.ts'

/** What one transaction may remove: about 10 ms of SQLite. */
const small = { rows: 500, bytes: 2 * 1024 * 1024, folders: 100, documents: 200 }

/** Whether everything inside can be removed at once. Reads little, however much there is. */
export async function isSmall(db: Db, apiKey: string, scope: Scope): Promise<boolean> {
  if ('organizationIds' in scope) {
    const there = sql`api_key = ${apiKey} and organization_id in (${sql.join(scope.organizationIds)})`
    return fits(db, [
      rowsOf('documents', there),
      rowsOf('folders', there),
      rowsOf('grants', there),
      rowsOf('user_group_members', there),
      rowsOf('user_groups', there),
      rowsOf('document_migrations', there),
      rowsOf('notifications', there),
      rowsOf('notification_recipients', there),
      ...contents(there),
    ])
  }
  if ('reserved' in scope) return true
  if ('userIds' in scope) return fits(db, [rowsOf(grantsByUser(db), grantsInside(apiKey, scope))])
  const { organizationId } = scope
  const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
  if ('groupId' in scope) {
    return fits(db, [rowsOf('user_group_members', sql`${inOrganization} and group_id = ${scope.groupId}`)])
  }
  if ('notificationsOf' in scope) {
    return fits(db, withRecipients(inOrganization, notificationsOf(inOrganization, scope.notificationsOf)))
  }
  if ('hiddenNotifications' in scope) {
    const theirs = sql`${inOrganization} and notification_id in (${sql.join(scope.hiddenNotifications)})`
    return fits(db, [rowsOf('notifications', theirs), rowsOf('notification_recipients', theirs)])
  }
  if ('inboxOf' in scope) {
    const received = namesOf(await addressee(db, apiKey, scope.inboxOf.userId)).map(
      ({ userId, email }) => sql`
        ${inOrganization} and recipient = ${userId ?? email} and by_email = ${userId === null ? 1 : 0}`,
    )
    return fits(
      db,
      received.map((there) => rowsOf('notification_recipients', there)),
    )
  }
  if ('documentIds' in scope) return fits(db, inDocuments(inOrganization, scope.documentIds))

  const folderIds = [scope.folderId]
  for (let level = folderIds.slice(); level.length > 0;) {
    const left = small.folders - folderIds.length
    const children = await folders.someChildren(db, apiKey, organizationId, level, left)
    if (children.length >= left) return false
    level = children.map((folder) => folder.folderId)
    folderIds.push(...level)
  }
  const { rows } = await sql<{ document_id: string }>`
    select document_id from documents
    where ${inOrganization} and folder_id in (${sql.join(folderIds)}) limit ${sql.lit(small.documents)}`.execute(
    db,
  )
  if (rows.length === small.documents) return false
  const granted = sql`${inOrganization} and resource_type = 'folder' and resource_id in (${sql.join(folderIds)})`
  const documentIds = rows.map((row) => row.document_id)
  return fits(db, [
    rowsOf('grants', granted),
    ...(documentIds.length > 0 ? inDocuments(inOrganization, documentIds) : []),
  ])
}

type Size = RawBuilder<{ rows: number; bytes: number }>

const some = sql.lit(small.rows + 1)

const rowsOf = (table: string | RawBuilder<unknown>, which: RawBuilder<unknown>): Size => {
  const from = typeof table === 'string' ? sql.table(table) : table
  return sql`
    select count(*) as rows, 0 as bytes from (select 1 from ${from} where ${which} limit ${some}) as found`
}

const bytesOf = (table: string, which: RawBuilder<unknown>): Size => sql`
  select count(*) as rows, coalesce(sum(length(bytes)), 0) as bytes
  from (select bytes from ${sql.table(table)} where ${which} limit ${some}) as found`

const contents = (there: RawBuilder<unknown>): Size[] => [
  rowsOf('notification_configs', there),
  rowsOf('editors', there),
  rowsOf('editor_clients', there),
  rowsOf('editor_version_authors', there),
  rowsOf('live_states', there),
  rowsOf('presence', there),
  bytesOf('editor_updates', there),
  bytesOf('editor_snapshots', there),
  bytesOf('editor_snapshot_parts', there),
  bytesOf('editor_versions', there),
  bytesOf('editor_version_parts', there),
]

function inDocuments(inOrganization: RawBuilder<unknown>, documentIds: readonly string[]): Size[] {
  const ids = sql.join(documentIds)
  const there = sql`${inOrganization} and document_id in (${ids})`
  return [
    ...contents(there),
    rowsOf('grants', sql`${inOrganization} and resource_type = 'document' and resource_id in (${ids})`),
    ...withRecipients(inOrganization, there),
  ]
}

function withRecipients(inOrganization: RawBuilder<unknown>, there: RawBuilder<unknown>): Size[] {
  const notifications = sql`select notification_id from notifications where ${there} limit ${some}`
  return [
    rowsOf('notifications', there),
    rowsOf('notification_recipients', sql`${inOrganization} and notification_id in (${notifications})`),
  ]
}

async function fits(db: Db, sizes: readonly Size[]): Promise<boolean> {
  // PostgreSQL gives sums as text.
  const { rows } = await sql<{ rows: number | string; bytes: number | string }>`
    select sum(rows) as rows, sum(bytes) as bytes from (${sql.join(sizes, sql` union all `)}) as sizes`.execute(
    db,
  )
  const [size = { rows: 0, bytes: 0 }] = rows
  return Number(size.rows) <= small.rows && Number(size.bytes) <= small.bytes
}
