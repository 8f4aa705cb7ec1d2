import { type RawBuilder, sql } from 'kysely'
import { grantsByUser } from '../access/grants.ts'
import { areNotRemoved, removeMembers } from '../access/removed-grants.ts'
import { removalSteps } from '../deletions/removal.ts'
import type { RowStep } from '../deletions/row-step.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { paceOf } from '../engine/pace.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { someRows } from '../engine/some-rows.ts'
import type { Content } from '../notifications/lists.ts'
import { shownUser } from '../notifications/shown-users.ts'
import type { Schema } from '../schema/schema.ts'
import { type TableInOrganization, tables } from '../schema/tables.ts'
import { redactedAudience } from './erased-content.ts'
import { scanRows } from './row-scan.ts'
import { type ErasedIds, redacted } from './without-users.ts'

/** The users whose data is erased in one organization. */
export interface ErasedUsers {
  apiKey: string
  organizationId: string
  userIds: readonly string[]
  /** Their email addresses. */
  addresses: readonly string[]
}

export const idsOf = ({ userIds, addresses }: Pick<ErasedUsers, 'userIds' | 'addresses'>): ErasedIds => ({
  userIds: new Set(userIds),
  addresses: new Set(addresses.filter((address) => address !== '').map((address) => address.toLowerCase())),
})

const inOrganization = ({ apiKey, organizationId }: ErasedUsers) =>
  sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`

const ofUsers = (erased: ErasedUsers, column = 'user_id') =>
  sql<boolean>`${inOrganization(erased)} and ${sql.ref(column)} in (${sql.join(erased.userIds)})`

/** Removes rows that an index finds by user. */
const removeRows =
  (table: TableInOrganization, which: RawBuilder<boolean>, from?: (db: Db) => RawBuilder<unknown>): RowStep =>
  async (db) => {
    const max = tables[table].rowsPerDelete * paceOf(db).factor
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ${someRows(db, table, which, max, from?.(db))}`.execute(db)
    return Number(numAffectedRows) === max
  }

/**
 * Takes all access from the users. Those who have a grant in the organization, or all if `isNamed`, also lose what older
 * tokens grant there. That is stored before the grants inside are removed, so an interruption forgets nobody.
 */
export function removeAccess(
  erased: ErasedUsers,
  { isNamed, now, onRemoved }: { isNamed: boolean; now: number; onRemoved: () => void },
): RowStep[] {
  const { apiKey, organizationId, userIds } = erased
  const inside = sql<boolean>`${ofUsers(erased)} and resource_type in ('folder', 'document', 'context')`
  return [
    async (db) => {
      const { rows } = await sql<{ user_id: string }>`
        select user_id from users
        where api_key = ${apiKey} and user_id in (${sql.join(userIds)}) and exists (
          select 1 from ${grantsByUser(db)}
          where api_key = ${apiKey} and organization_id = ${organizationId} and user_id = users.user_id
            and ${areNotRemoved})`.execute(db)
      const leaving = isNamed ? userIds : rows.map((row) => row.user_id)
      await removeMembers(db, apiKey, organizationId, leaving, now)
      if (leaving.length > 0) onRemoved()
      return false
    },
    removeRows('grants', inside, grantsByUser),
    removeRows('user_group_members', ofUsers(erased)),
  ]
}

/** With many ids SQLite, which has no statistics, would read all that wait in the organization. */
const pendingByActor = (db: Db) =>
  sqliteOf(db)
    ? sql`pending_notifications indexed by pending_notifications_by_actor_id`
    : sql`pending_notifications`

/** Everything else that is neither access nor part of a comment thread. */
export function removeUserRows(
  erased: ErasedUsers,
  onPresenceRemoved: (documentId: string, userIds: readonly string[]) => void,
): RowStep[] {
  const { apiKey, organizationId, userIds } = erased
  const named = idsOf(erased)
  const ids = named.userIds
  const where = inOrganization(erased)
  return [
    removeRows('annotation_views', ofUsers(erased)),
    removeRows('digest_items', ofUsers(erased)),
    scanRows({
      table: 'presence',
      key: ['document_id', 'user_id'],
      columns: [],
      where,
      rowsPerStep: 200,
      async visit(db, rows, ofRow) {
        for (const row of rows.filter(({ user_id }) => ids.has(user_id))) {
          await sql`delete from presence where ${ofRow(row)}`.execute(db)
          onPresenceRemoved(row.document_id, [row.user_id])
        }
      },
    }),
    scanRows({
      table: 'notification_configs',
      key: ['document_id', 'user_id'],
      columns: [],
      where,
      rowsPerStep: 200,
      async visit(db, rows, ofRow) {
        for (const row of rows.filter(({ user_id }) => ids.has(user_id)))
          await sql`delete from notification_configs where ${ofRow(row)}`.execute(db)
      },
    }),
    // Their jobs find nothing to deliver.
    removeRows('pending_notifications', ofUsers(erased, 'actor_id'), pendingByActor),
    ...userIds.flatMap((userId) => removalSteps(apiKey, { organizationId, inboxOf: { userId } })),
    removeNotifications(erased, named),
    removeRows('activities', ofUsers(erased)),
    scanRows({
      table: 'activities',
      key: ['activity_id'],
      columns: ['audience', 'data'],
      where,
      rowsPerStep: 50,
      async visit(db, rows, ofRow) {
        for (const row of rows) {
          const [data, audience] = [redacted(row.data, named), redactedAudience(row.audience, named)]
          if (data === undefined && !audience) continue
          await sql`
            update activities set data = ${data ?? row.data}, audience = ${audience ?? row.audience}
            where ${ofRow(row)}`.execute(db)
        }
      },
    }),
    scanRows({
      table: 'removed_annotations',
      key: ['document_id', 'annotation_id'],
      columns: ['audience'],
      where,
      rowsPerStep: 100,
      async visit(db, rows, ofRow) {
        for (const row of rows) {
          const audience = redactedAudience(row.audience, named)
          if (audience)
            await sql`update removed_annotations set audience = ${audience} where ${ofRow(row)}`.execute(db)
        }
      },
    }),
    ...removeEditorUsers(where, ids),
  ]
}

/** Removes the notifications that the users caused or that show their names or texts, and the users from the others. */
function removeNotifications(erased: ErasedUsers, named: ErasedIds): RowStep {
  const { apiKey, organizationId } = erased
  const ids = named.userIds
  const shown = new Set([...ids].map(shownUser))
  return scanRows({
    table: 'notifications',
    key: ['notification_id'],
    columns: ['data'],
    where: inOrganization(erased),
    rowsPerStep: 50,
    async visit(db, rows, ofRow) {
      const removed: string[] = []
      for (const row of rows) {
        const { actionUser, shownUsers = [] } = parse<Content>(row.data)
        const isRemoved = ids.has(actionUser.userId ?? '') || shownUsers.some((user) => shown.has(user))
        if (isRemoved) removed.push(row.notification_id)
        else {
          const data = redacted(row.data, named)
          if (data !== undefined)
            await sql`update notifications set data = ${data} where ${ofRow(row)}`.execute(db)
        }
      }
      if (removed.length === 0) return
      // A notification may have very many recipients. It is hidden while they are removed.
      await sql`
        update notifications set public_id = null
        where ${inOrganization(erased)} and notification_id in (${sql.join(removed)})`.execute(db)
      const scope = { organizationId, hiddenNotifications: removed }
      for (const step of removalSteps(apiKey, scope)) if (await step(db, [], undefined)) return 'again'
    },
  })
}

/** The user of content that nobody is named for any more. */
const nobody = ''

/** Content that the users wrote together with others stays, but no longer says who wrote it. */
function removeEditorUsers(where: RawBuilder<boolean>, ids: ReadonlySet<string>): RowStep[] {
  const editor = ['document_id', 'editor_id'] as const
  const removeUser = <T extends keyof Schema, Key extends keyof Schema[T], Column extends keyof Schema[T]>(
    table: T,
    key: readonly (Key & string)[],
    column: Column & string,
    rowsPerStep: number,
  ) =>
    scanRows({
      table,
      key,
      columns: [column],
      where,
      rowsPerStep,
      async visit(db, rows, ofRow) {
        for (const row of rows.filter((one) => ids.has(one[column] as string)))
          await sql`
            update ${sql.table(table)} set ${sql.ref(column)} = ${nobody} where ${ofRow(row)}`.execute(db)
      },
    })
  return [
    // A live state may have 1 MiB, which SQLite walks over to read a later column.
    removeUser('live_states', ['document_id', 'live_state_data_id'], 'updated_by', 5),
    removeUser('editors', editor, 'last_updated_by', 100),
    // The Yjs client ids stay taken, so that nobody can continue the users' changes under their ids.
    removeUser('editor_clients', [...editor, 'client_id'], 'user_id', 200),
    removeUser('editor_updates', [...editor, 'seq'], 'user_id', 5),
    scanRows({
      table: 'editor_version_authors',
      key: [...editor, 'version_id'],
      columns: ['author'],
      where,
      rowsPerStep: 100,
      async visit(db, rows, ofRow) {
        for (const row of rows.filter(({ author }) => ids.has(parse<{ userId: string }>(author).userId)))
          await sql`delete from editor_version_authors where ${ofRow(row)}`.execute(db)
      },
    }),
  ]
}
