import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { removeSome } from '../activities/activities.ts'
import { areMutable } from '../activities/lists.ts'
import type { ActivityFilter, DeletedAnnotations, LeavingUsers, Scope } from '../deletions.ts'
import { leafFolders } from '../documents/folder-tree.ts'
import { areMembers, emptyInbox, emptyInboxesOfMembers } from './inboxes.ts'
import { moveSteps } from './moved-rows.ts'
import type { RowStep } from './row-step.ts'
import { isAt } from '../notifications/lists.ts'
import { paceOf } from '../engine/pace.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { grantsByUser } from '../access/grants.ts'
import { areNotRemoved } from '../access/removed-grants.ts'
import { someRows } from '../engine/some-rows.ts'
import {
  documentTablesWithoutForeignKey,
  hasBytes,
  type Table,
  type TableInOrganization,
  tables,
  tablesInDocuments,
  tablesInOrganizations,
} from '../schema/tables.ts'
import * as users from '../users/users.ts'

/** One step works on at most this many documents; in a large folder on PostgreSQL, on more. */
const documentsPerStep = 50

/**
 * The steps that remove everything inside the scope. Children come before their parents: a statement that deletes a parent
 * also deletes all rows below it, which would take too long. The organizations, folder or documents themselves stay.
 */
export function removalSteps(apiKey: string, scope: Scope): RowStep[] {
  if ('organizationIds' in scope) {
    const inside = sql<boolean>`api_key = ${apiKey} and organization_id in (${sql.join(scope.organizationIds)})`
    return [
      ...tablesInOrganizations
        .filter((table) => table !== 'folders')
        .map((table) => removeFromTable(table, inside)),
      ...documentTablesWithoutForeignKey.map((table) => removeFromTable(table, inside)),
      removeGrantsWithUsers(apiKey, inside),
      unnestFolders(inside),
      removeFromTable('folders', inside),
    ]
  }
  if ('reserved' in scope) return []
  const { organizationId } = scope
  if ('userIds' in scope) {
    return [
      removeFromTable('grants', grantsInside(apiKey, scope), grantsByUser),
      ...emptyInboxesOfMembers(apiKey, scope),
    ]
  }
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  if ('groupId' in scope) {
    return [removeMembers(sql`${inOrganization} and group_id = ${scope.groupId}`)]
  }
  if ('notificationsOf' in scope)
    return [removeNotifications(inOrganization, notificationsOf(inOrganization, scope.notificationsOf))]
  if ('notificationsAbout' in scope)
    return [removeNotifications(inOrganization, notificationsAbout(inOrganization, scope.notificationsAbout))]
  if ('hiddenNotifications' in scope) {
    const keys = sql.join(scope.hiddenNotifications)
    const inside = sql<boolean>`${inOrganization} and notification_id in (${keys}) and public_id is null`
    return [removeNotifications(inOrganization, inside)]
  }
  if ('activitiesOf' in scope) return [removeActivities(apiKey, organizationId, scope.activitiesOf)]
  if ('inboxOf' in scope) return emptyInbox(apiKey, organizationId, scope.inboxOf)
  if ('folderId' in scope) return [emptyFolder(apiKey, organizationId, scope.folderId)]
  const groups = Array.from({ length: Math.ceil(scope.documentIds.length / documentsPerStep) }, (_, index) =>
    scope.documentIds.slice(index * documentsPerStep, (index + 1) * documentsPerStep),
  )
  const { movedTo } = scope
  const moves =
    movedTo === undefined
      ? []
      : scope.documentIds.flatMap((documentId) =>
          moveSteps({ apiKey, organizationId, documentId, newDocumentId: movedTo }),
        )
  return [...moves, ...groups.flatMap((ids) => emptyDocuments(apiKey, organizationId, ids))]
}

/** Removes the rows that match `which`, a limited number at a time; on SQLite also limited bytes, if rows can be large. */
const removeFromTable =
  (table: TableInOrganization, which: RawBuilder<boolean>, from?: (db: Db) => RawBuilder<unknown>): RowStep =>
  async (db) => {
    const { rowsPerDelete } = tables[table]
    if (sqliteOf(db) && hasBytes(table)) return removeBytes(db, table, which, rowsPerDelete)
    const max = rowsPerDelete * paceOf(db).factor
    return (await removeRows(db, table, which, max, from?.(db))) === max
  }

/**
 * One statement on SQLite walks over all bytes that it frees: 10 to 20 ms per mebibyte. A single row may have more than
 * this limit.
 */
const maxBytesPerDelete = 512 * 1024

async function removeBytes(db: Db, table: Table, which: RawBuilder<boolean>, max: number): Promise<boolean> {
  const { rows: found } = await sql<{ id: number; bytes: number }>`
    select rowid as id, length(bytes) as bytes from ${sql.table(table)} where ${which} limit ${sql.lit(max)}`.execute(
    db,
  )
  let bytes = 0
  const ids = found
    .filter((row, index) => (bytes += row.bytes) <= maxBytesPerDelete || index === 0)
    .map(({ id }) => id)
  if (ids.length > 0) await sql`delete from ${sql.table(table)} where rowid in (${sql.join(ids)})`.execute(db)
  return ids.length === max || ids.length < found.length
}

async function removeRows(
  db: Db,
  table: Table,
  which: RawBuilder<boolean>,
  max: number,
  from?: RawBuilder<unknown>,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${someRows(db, table, which, max, from)}`.execute(db)
  return Number(numAffectedRows)
}

/** A condition for the grants of these users inside the organization, if they are members of it. */
export const grantsInside = (apiKey: string, scope: LeavingUsers) => sql<boolean>`
  api_key = ${apiKey} and organization_id = ${scope.organizationId}
  and resource_type in ('folder', 'document', 'context')
  and user_id in (select user_id from grants where ${areMembers(apiKey, scope)})`

/** Removes grants, and the users who have no grant left. */
const removeGrantsWithUsers =
  (apiKey: string, inside: RawBuilder<boolean>): RowStep =>
  async (db) => {
    const max = 100
    const { rows } = await sql<{ user_id: string }>`
      delete from grants where ${someRows(db, 'grants', sql`${inside} and ${areNotRemoved}`, max)}
      returning user_id`.execute(db)
    const userIds = [...new Set(rows.map((row) => row.user_id))]
    if (userIds.length > 0) await users.removeWithoutGrants(db, apiKey, userIds)
    return rows.length === max
  }

/** Takes folders out of their parents. Then they can be deleted in any order, and no delete cascades to subfolders. */
const unnestFolders =
  (inside: RawBuilder<boolean>): RowStep =>
  async (db) => {
    const max = 100
    const nested = sql<boolean>`${inside} and parent_folder_id is not null`
    const { numAffectedRows = 0n } = await sql`
      update folders set parent_folder_id = null where ${someRows(db, 'folders', nested, max)}`.execute(db)
    return Number(numAffectedRows) === max
  }

function emptyDocuments(apiKey: string, organizationId: string, documentIds: readonly string[]): RowStep[] {
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  const inside = sql<boolean>`${inOrganization} and document_id in (${sql.join(documentIds)})`
  const granted = sql<boolean>`
    ${inOrganization} and resource_type = 'document' and resource_id in (${sql.join(documentIds)}) and ${areNotRemoved}`
  return [
    removeNotifications(inOrganization, inside),
    ...tablesInDocuments.map((table) => removeFromTable(table, inside)),
    ...documentTablesWithoutForeignKey.map((table) => removeFromTable(table, inside)),
    removeFromTable('activities', sql`${inside} and ${areMutable}`),
    removeFromTable('grants', granted),
  ]
}

export const notificationsOf = (
  inOrganization: RawBuilder<unknown>,
  { documentId, locationId }: { documentId: string; locationId?: string },
): RawBuilder<boolean> => {
  const ofDocument = sql<boolean>`${inOrganization} and document_id = ${documentId}`
  return locationId === undefined ? ofDocument : sql`${ofDocument} and ${isAt(locationId)}`
}

/** Not `document_id = …`: SQLite would choose an index by document and read all its notifications. */
export const notificationsAbout = (
  inOrganization: RawBuilder<unknown>,
  { documentId, annotationIds }: DeletedAnnotations,
): RawBuilder<boolean> => sql`
  ${inOrganization} and annotation_id is not null and annotation_id in (${sql.join(annotationIds)})
  and document_id || '' = ${documentId}`

/** Each call finds a few notifications and removes their recipients first: rows of recipients do not name the document. */
const removeNotifications =
  (inOrganization: RawBuilder<boolean>, inside: RawBuilder<boolean>): RowStep =>
  async (db, removed) => {
    const { factor } = paceOf(db)
    const [max, notificationsPerCall] = [200 * factor, 20 * factor]
    const { rows: found } = await sql<{ notification_id: string; public_id: string | null }>`
      select notification_id, public_id from notifications where ${inside} limit ${sql.lit(notificationsPerCall)}`.execute(
      db,
    )
    if (found.length === 0) return false
    const keys = found.map((row) => row.notification_id)
    const ofThese = sql<boolean>`${inOrganization} and notification_id in (${sql.join(keys)})`
    if ((await removeRows(db, 'notification_recipients', ofThese, max)) === max) return true
    await removeRows(db, 'notifications', ofThese, notificationsPerCall)
    removed.push(...found.flatMap((row) => row.public_id ?? []))
    return true
  }

const removeActivities =
  (apiKey: string, organizationId: string, filter: ActivityFilter): RowStep =>
  async (db, removed, after) => {
    const { ids, next } = await removeSome(db, apiKey, { organizationId, ...filter }, after)
    removed.push(...ids)
    return next ?? false
  }

const removeMembers =
  (inside: RawBuilder<boolean>): RowStep =>
  async (db, removed) => {
    const max = 200 * paceOf(db).factor
    const { rows } = await sql<{ user_id: string }>`
      delete from user_group_members where ${someRows(db, 'user_group_members', inside, max)}
      returning user_id`.execute(db)
    for (const { user_id: userId } of rows) removed.push(userId)
    return rows.length === max
  }

/**
 * Each call works on folders without subfolders: it removes some of their documents or, if none are left, the folders.
 * `folderId` itself stays.
 */
const emptyFolder =
  (apiKey: string, organizationId: string, folderId: string): RowStep =>
  async (db, removed) => {
    const maxDocuments = documentsPerStep * paceOf(db).factor
    const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
    const leaves = await leafFolders(db, apiKey, organizationId, folderId, 100)
    const folderIds = leaves.length > 0 ? leaves : [folderId]
    const inFolders = sql<boolean>`${inOrganization} and folder_id in (${sql.join(folderIds)})`
    const { rows: found } = await sql<{ document_id: string }>`
      select document_id from documents where ${inFolders} limit ${sql.lit(maxDocuments)}`.execute(db)
    if (found.length > 0) {
      const documentIds = found.map((row) => row.document_id)
      removed.push(...documentIds)
      for (const remove of emptyDocuments(apiKey, organizationId, documentIds)) {
        if (await remove(db, [], undefined)) return true
      }
      const emptied = sql<boolean>`${inOrganization} and document_id in (${sql.join(documentIds)})`
      await removeRows(db, 'documents', emptied, maxDocuments)
      return true
    }
    const granted = sql<boolean>`
      ${inOrganization} and resource_type = 'folder' and resource_id in (${sql.join(folderIds)}) and ${areNotRemoved}`
    if ((await removeRows(db, 'grants', granted, 200)) === 200) return true
    if (leaves.length > 0) await removeRows(db, 'folders', inFolders, leaves.length)
    return leaves.length > 0
  }
