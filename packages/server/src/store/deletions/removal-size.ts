import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { grantsByUser } from '../access/grants.ts'
import { areMutable } from '../activities/lists.ts'
import type { ActivityFilter, Scope } from '../deletions.ts'
import * as folders from '../documents/folders.ts'
import { areSmall } from '../notifications/notifications.ts'
import { findAddressee, namesOf } from '../notifications/recipients.ts'
import { receivedBy } from './inboxes.ts'
import { grantsInside, notificationsAbout, notificationsOf } from './removal.ts'
import { countedRows, fitOneTransaction, type Size, sizeOf } from '../engine/transaction-size.ts'
import {
  documentTablesWithoutForeignKey,
  tablesInDocuments,
  tablesInOrganizations,
  tablesWithoutForeignKey,
} from '../schema/tables.ts'

/** A folder is not small if it has at least this many folders, itself included, or this many documents. */
const maxFolders = 100
const maxDocuments = 200

/** Whether one transaction can remove everything inside the scope. Reads little, however much there is. */
export async function isSmall(db: Db, apiKey: string, scope: Scope): Promise<boolean> {
  if ('reserved' in scope) return true
  if ('hiddenNotifications' in scope)
    return areSmall(db, apiKey, scope.organizationId, scope.hiddenNotifications)
  const sizes = await sizesOf(db, apiKey, scope)
  return sizes !== undefined && fitOneTransaction(db, sizes)
}

type CountedScope = Exclude<
  Scope,
  { reserved: readonly string[] } | { hiddenNotifications: readonly string[] }
>

/** The sizes of all rows to remove, or undefined if a folder has too many subfolders or documents to count their rows. */
async function sizesOf(db: Db, apiKey: string, scope: CountedScope): Promise<Size[] | undefined> {
  if ('organizationIds' in scope) {
    const inside = sql`api_key = ${apiKey} and organization_id in (${sql.join(scope.organizationIds)})`
    return [...tablesInOrganizations, ...tablesWithoutForeignKey].map((table) => sizeOf(table, inside))
  }
  if ('userIds' in scope) {
    const received = receivedBy(db, apiKey, scope.organizationId, scope.userIds)
    return [
      sizeOf('grants', grantsInside(apiKey, scope), grantsByUser(db)),
      ...received.map((rows) => sizeOf('notification_recipients', rows)),
    ]
  }
  const { organizationId } = scope
  const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
  if ('groupId' in scope) {
    return [sizeOf('user_group_members', sql`${inOrganization} and group_id = ${scope.groupId}`)]
  }
  if ('notificationsOf' in scope) {
    return withRecipients(inOrganization, notificationsOf(inOrganization, scope.notificationsOf))
  }
  if ('notificationsAbout' in scope) {
    return withRecipients(inOrganization, notificationsAbout(inOrganization, scope.notificationsAbout))
  }
  if ('inboxOf' in scope) {
    const names = namesOf(await findAddressee(db, apiKey, scope.inboxOf.userId))
    return names.map(({ userId, email }) => {
      const received = sql`
        ${inOrganization} and recipient = ${userId ?? email} and by_email = ${userId === null ? 1 : 0}`
      return sizeOf('notification_recipients', received)
    })
  }
  if ('activitiesOf' in scope) return [activitiesOf(inOrganization, scope.activitiesOf)]
  if ('documentIds' in scope) {
    const { documentIds, movedTo } = scope
    return inDocuments(inOrganization, documentIds, { isMove: movedTo !== undefined })
  }
  return inFolder(db, apiKey, organizationId, scope.folderId)
}

async function inFolder(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<Size[] | undefined> {
  const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
  const folderIds = await findFewFolders(db, apiKey, organizationId, folderId)
  if (!folderIds) return undefined
  const { rows } = await sql<{ document_id: string }>`
    select document_id from documents
    where ${inOrganization} and folder_id in (${sql.join(folderIds)}) limit ${sql.lit(maxDocuments)}`.execute(
    db,
  )
  if (rows.length === maxDocuments) return undefined
  const granted = sql`${inOrganization} and resource_type = 'folder' and resource_id in (${sql.join(folderIds)})`
  const documentIds = rows.map((row) => row.document_id)
  return [
    sizeOf('grants', granted),
    ...(documentIds.length > 0 ? inDocuments(inOrganization, documentIds) : []),
  ]
}

/** The folder and all folders below it, or undefined if there are `maxFolders` or more. */
async function findFewFolders(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<string[] | undefined> {
  const folderIds = [folderId]
  for (let level = [folderId]; level.length > 0;) {
    const left = maxFolders - folderIds.length
    const children = await folders.someChildren(db, apiKey, organizationId, level, left)
    if (children.length >= left) return undefined
    level = children.map((folder) => folder.folderId)
    folderIds.push(...level)
  }
  return folderIds
}

/** The activities that a deletion with this filter looks at: it searches by the target, else by the document. */
function activitiesOf(
  inOrganization: RawBuilder<unknown>,
  { documentId, targetEntityId }: ActivityFilter,
): Size {
  const by =
    targetEntityId === undefined
      ? sql`document_id = ${documentId}`
      : sql`target_entity_id = ${targetEntityId}`
  return sizeOf('activities', sql`${inOrganization} and ${by}`)
}

function inDocuments(
  inOrganization: RawBuilder<unknown>,
  documentIds: readonly string[],
  { isMove = false } = {},
): Size[] {
  const ids = sql.join(documentIds)
  const inside = sql`${inOrganization} and document_id in (${ids})`
  const granted = sql`${inOrganization} and resource_type = 'document' and resource_id in (${ids})`
  return [
    ...[...tablesInDocuments, ...documentTablesWithoutForeignKey].map((table) => sizeOf(table, inside)),
    sizeOf('grants', granted),
    // All activities move with their document, but immutable ones are not deleted with it.
    sizeOf('activities', isMove ? inside : sql`${inside} and ${areMutable}`),
    recipientsOf(inOrganization, inside),
  ]
}

const withRecipients = (inOrganization: RawBuilder<unknown>, notifications: RawBuilder<unknown>): Size[] => [
  sizeOf('notifications', notifications),
  recipientsOf(inOrganization, notifications),
]

/** The recipients of these notifications. Their rows do not name the document of the notification. */
function recipientsOf(inOrganization: RawBuilder<unknown>, notifications: RawBuilder<unknown>): Size {
  const keys = sql`select notification_id from notifications where ${notifications} limit ${countedRows}`
  return sizeOf('notification_recipients', sql`${inOrganization} and notification_id in (${keys})`)
}
