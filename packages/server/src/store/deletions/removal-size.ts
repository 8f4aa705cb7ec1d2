import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { grantsByUser } from '../access/grants.ts'
import type { Scope } from '../deletions.ts'
import * as folders from '../documents/folders.ts'
import { areFew } from '../notifications/notifications.ts'
import { findAddressee, namesOf } from '../notifications/recipients.ts'
import { grantsInside, notificationsOf } from './removal.ts'
import { countedRows, fitOneTransaction, type Size, sizeOf } from '../engine/transaction-size.ts'
import {
  documentTablesWithoutForeignKey,
  tablesInDocuments,
  tablesInOrganizations,
  tablesWithoutForeignKey,
} from '../schema/tables.ts'

/** A folder tree with more is not small. */
const maxFolders = 100
const maxDocuments = 200

/** Whether one transaction can remove everything inside. Reads little, however much there is. */
export async function isSmall(db: Db, apiKey: string, scope: Scope): Promise<boolean> {
  if ('organizationIds' in scope) {
    const inside = sql`api_key = ${apiKey} and organization_id in (${sql.join(scope.organizationIds)})`
    return fitOneTransaction(
      db,
      [...tablesInOrganizations, ...tablesWithoutForeignKey].map((table) => sizeOf(table, inside)),
    )
  }
  if ('reserved' in scope) return true
  if ('userIds' in scope) {
    return fitOneTransaction(db, [sizeOf('grants', grantsInside(apiKey, scope), grantsByUser(db))])
  }
  const { organizationId } = scope
  const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
  if ('groupId' in scope) {
    const members = sql`${inOrganization} and group_id = ${scope.groupId}`
    return fitOneTransaction(db, [sizeOf('user_group_members', members)])
  }
  if ('notificationsOf' in scope) {
    const notifications = notificationsOf(inOrganization, scope.notificationsOf)
    return fitOneTransaction(db, withRecipients(inOrganization, notifications))
  }
  if ('hiddenNotifications' in scope) return areFew(db, apiKey, organizationId, scope.hiddenNotifications)
  if ('inboxOf' in scope) {
    const received = namesOf(await findAddressee(db, apiKey, scope.inboxOf.userId)).map(
      ({ userId, email }) => sql`
        ${inOrganization} and recipient = ${userId ?? email} and by_email = ${userId === null ? 1 : 0}`,
    )
    return fitOneTransaction(
      db,
      received.map((rows) => sizeOf('notification_recipients', rows)),
    )
  }
  if ('documentIds' in scope) return fitOneTransaction(db, inDocuments(inOrganization, scope.documentIds))

  const folderIds = [scope.folderId]
  for (let level = folderIds.slice(); level.length > 0;) {
    const left = maxFolders - folderIds.length
    const children = await folders.someChildren(db, apiKey, organizationId, level, left)
    if (children.length >= left) return false
    level = children.map((folder) => folder.folderId)
    folderIds.push(...level)
  }
  const { rows } = await sql<{ document_id: string }>`
    select document_id from documents
    where ${inOrganization} and folder_id in (${sql.join(folderIds)}) limit ${sql.lit(maxDocuments)}`.execute(
    db,
  )
  if (rows.length === maxDocuments) return false
  const granted = sql`${inOrganization} and resource_type = 'folder' and resource_id in (${sql.join(folderIds)})`
  const documentIds = rows.map((row) => row.document_id)
  return fitOneTransaction(db, [
    sizeOf('grants', granted),
    ...(documentIds.length > 0 ? inDocuments(inOrganization, documentIds) : []),
  ])
}

function inDocuments(inOrganization: RawBuilder<unknown>, documentIds: readonly string[]): Size[] {
  const ids = sql.join(documentIds)
  const inside = sql`${inOrganization} and document_id in (${ids})`
  const granted = sql`${inOrganization} and resource_type = 'document' and resource_id in (${ids})`
  return [
    ...[...tablesInDocuments, ...documentTablesWithoutForeignKey].map((table) => sizeOf(table, inside)),
    sizeOf('grants', granted),
    recipientsOf(inOrganization, inside),
  ]
}

const withRecipients = (inOrganization: RawBuilder<unknown>, notifications: RawBuilder<unknown>): Size[] => [
  sizeOf('notifications', notifications),
  recipientsOf(inOrganization, notifications),
]

/** The rows of recipients do not name the document of their notification. */
function recipientsOf(inOrganization: RawBuilder<unknown>, notifications: RawBuilder<unknown>): Size {
  const keys = sql`select notification_id from notifications where ${notifications} limit ${countedRows}`
  return sizeOf('notification_recipients', sql`${inOrganization} and notification_id in (${keys})`)
}
