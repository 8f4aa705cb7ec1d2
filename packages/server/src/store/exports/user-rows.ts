import { type RawBuilder, sql } from 'kysely'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import type { Involvement } from '../schema/comment-tables.ts'
import type { Content } from '../notifications/lists.ts'

/** The user whose data is exported, in one organization. */
export interface ExportedUser {
  organizationId: string
  userId: string
}

interface Window {
  limit: number
  after: Cursor | undefined
}

interface Source<Row> {
  table: string
  /** The columns that order the list: the rest of an index. */
  key: readonly (keyof Row & string)[]
  columns: readonly (keyof Row & string)[]
  /** A further condition, on the columns of the index. */
  where?: (userId: string) => RawBuilder<boolean>
}

/** The next rows of the organization, in the order of an index. */
async function read<Row>(
  db: Db,
  apiKey: string,
  { organizationId, userId }: ExportedUser,
  { table, key, columns, where }: Source<Row>,
  { limit, after }: Window,
): Promise<Row[]> {
  const keys = sql.join(key.map((column) => sql.ref(column)))
  const selected = sql.join([...new Set([...key, ...columns])].map((column) => sql.ref(column)))
  const behind = after ? sql`and (${keys}) > (${sql.join(after)})` : sql``
  const { rows } = await sql<Row>`
    select ${selected} from ${sql.table(table)}
    where api_key = ${apiKey} and organization_id = ${organizationId}
      ${where ? sql`and ${where(userId)}` : sql``} ${behind}
    order by ${keys} limit ${sql.lit(limit)}`.execute(db)
  return rows
}

const isUser = (userId: string) => sql<boolean>`user_id = ${userId}`

/** Lists the groups of a user, by id. */
export async function listGroupsOf(db: Db, apiKey: string, user: ExportedUser, { limit, after }: Window) {
  const behind = after ? sql`and m.group_id > ${after[0]}` : sql``
  const { rows } = await sql<{ groupId: string; groupName: string }>`
    select g.group_id as "groupId", g.group_name as "groupName" from user_group_members as m
    join user_groups as g on g.api_key = m.api_key and g.organization_id = m.organization_id and g.group_id = m.group_id
    where m.api_key = ${apiKey} and m.organization_id = ${user.organizationId} and m.user_id = ${user.userId} ${behind}
    order by m.group_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

interface ConfigRow {
  document_id: string
  config: string
}

/** Lists the notification preferences of a user: for the organization, then by document. */
export async function listPreferencesOf(db: Db, apiKey: string, user: ExportedUser, window: Window) {
  const source = {
    table: 'notification_configs',
    key: ['document_id'],
    columns: ['config'],
    where: isUser,
  } as const
  const rows = await read<ConfigRow>(db, apiKey, user, source, window)
  return rows.map(({ document_id: documentId, config }) => ({
    documentId,
    config: parse<Record<string, 'ALL' | 'MINE' | 'NONE'>>(config),
  }))
}

/** Lists how a user is involved in annotations, by document and number. */
export async function listInvolvementsOf(
  db: Db,
  apiKey: string,
  user: ExportedUser,
  { limit, after }: Window,
) {
  const behind = after ? sql`and (u.document_id, u.number, u.involvement) > (${sql.join(after)})` : sql``
  const { rows } = await sql<{
    documentId: string
    number: number
    annotationId: string
    involvement: Involvement
  }>`
    select u.document_id as "documentId", u.number as number, a.annotation_id as "annotationId",
      u.involvement as involvement
    from annotation_users as u
    join annotations as a on a.api_key = u.api_key and a.organization_id = u.organization_id
      and a.document_id = u.document_id and a.number = u.number
    where u.api_key = ${apiKey} and u.organization_id = ${user.organizationId} and u.user_id = ${user.userId} ${behind}
    order by u.document_id, u.number, u.involvement limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Rows of a table without an index by user: all of them are read, and those of the user are kept. */
export interface Scan<Row, Item> {
  source: Source<Row>
  /** Rows that one statement reads, in a few milliseconds. */
  rowsPerStep: number
  /** What is exported of the row; undefined: it is not of the user. */
  itemOf: (row: Row, userId: string) => Item | undefined
}

export const readStep = <Row>(
  db: Db,
  apiKey: string,
  user: ExportedUser,
  { source, rowsPerStep }: Pick<Scan<Row, unknown>, 'source' | 'rowsPerStep'>,
  after: Cursor | undefined,
): Promise<Row[]> => read(db, apiKey, user, source, { limit: rowsPerStep, after })

export const cursorOf = <Row>({ key }: Source<Row>, row: Row): Cursor =>
  key.map((column) => row[column] as string | number)

interface PresenceRow {
  document_id: string
  user_id: string
  status: 'online' | 'away' | 'offline'
  data: string
  last_updated: number
}

/** The entries of the user in presence lists, as backends set them. */
export const presenceScan: Scan<PresenceRow, object> = {
  source: {
    table: 'presence',
    key: ['document_id', 'user_id'],
    columns: ['status', 'data', 'last_updated'],
  },
  rowsPerStep: 100,
  itemOf: ({ document_id: documentId, user_id, status, data, last_updated: lastUpdated }, userId) => {
    if (user_id !== userId) return undefined
    const { name, email } = parse<{ name?: string; email?: string }>(data)
    return {
      documentId,
      status,
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      lastUpdated,
    }
  },
}

interface VersionRow {
  document_id: string
  editor_id: string
  version_id: string
  author: string
}

/** The versions of editors that the user saved. */
export const versionScan: Scan<VersionRow, object> = {
  source: {
    table: 'editor_version_authors',
    key: ['document_id', 'editor_id', 'version_id'],
    columns: ['author'],
  },
  rowsPerStep: 200,
  itemOf: ({ document_id: documentId, editor_id: editorId, version_id: versionId, author }, userId) =>
    parse<{ userId: string }>(author).userId === userId ? { documentId, editorId, versionId } : undefined,
}

interface NotificationRow {
  notification_id: string
  public_id: string | null
  document_id: string
  data: string
  timestamp: number
}

/** The notifications that the user caused. */
export const causedScan: Scan<NotificationRow, object> = {
  source: {
    table: 'notifications',
    key: ['notification_id'],
    columns: ['public_id', 'document_id', 'data', 'timestamp'],
  },
  rowsPerStep: 50,
  itemOf: ({ notification_id: key, public_id: id, document_id: documentId, data, timestamp }, userId) => {
    const content = parse<Content>(data)
    return id === null || content.actionUser.userId !== userId
      ? undefined
      : { id, key, documentId, content, timestamp }
  },
}
