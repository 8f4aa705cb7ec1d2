import { sql } from 'kysely'
import type { Database } from '../../../src/store/engine/db.ts'

const rowsTogether = 5000

/** Writes the rows of a large tenant in few statements; through the API it would take minutes. */
export function seed({ write, dialect }: Database, apiKey: string, organizationId: string) {
  /** Inserts a row for every number from 1 to `count`. In `select`, `i` is the number. */
  const insert = async (count: number, into: string, columns: string, select: string) => {
    for (let from = 1; from <= count; from += rowsTogether) {
      const to = Math.min(count, from + rowsTogether - 1)
      await write(async (db) => {
        // Without the checks of foreign keys, which take most of the time: the rows are known to be consistent.
        if (dialect === 'postgres') await sql`set local session_replication_role = 'replica'`.execute(db)
        await sql`
          with recursive n(i) as (select ${sql.lit(from)} union all select i + 1 from n where i < ${sql.lit(to)})
          insert into ${sql.raw(into)} (api_key, organization_id, ${sql.raw(columns)})
          select ${sql.lit(apiKey)}, ${sql.lit(organizationId)}, ${sql.raw(select)} from n`.execute(db)
      })
    }
    if (dialect === 'postgres') await write((db) => sql`analyze ${sql.table(into)}`.execute(db))
  }
  const zeros = (bytes: number) =>
    dialect === 'sqlite' ? `zeroblob(${bytes})` : `decode(repeat('00', ${bytes}), 'hex')`
  const text = (prefix: string, number = 'i') => `'${prefix}' || (${number})`
  /** The content of an activity with at least this many bytes. */
  const activityJson = (bytes: number) =>
    `'{"actionUser":{"userId":"u"},"entityData":"${'x'.repeat(bytes)}"}'`
  const insertDocuments = (count: number, documentId: string, folderId: string) =>
    insert(
      count,
      'documents',
      'document_id, folder_id, access_type, disabled, data, event_seq, created_at, last_updated',
      `${documentId}, ${folderId}, null, 0, '{}', 0, i, 1`,
    )
  let folders = 0
  /** Lists show folders in the order in which they were inserted. */
  const insertFolders = async (count: number, folderId: string, parentFolderId: string) => {
    await insert(
      count,
      'folders',
      'folder_id, folder_name, parent_folder_id, access_type, created_at, last_updated',
      `${folderId}, 'name', ${parentFolderId}, null, ${folders} + i, 1`,
    )
    folders += count
  }

  return {
    documents: (count: number, { folderId = '', prefix = 'd' } = {}) =>
      insertDocuments(count, text(prefix), folderId ? `'${folderId}'` : 'null'),
    /** Document `d<i>` is in the last folder of chain `f<i>`. */
    documentsInChains: (count: number, depth: number, suffix = '') =>
      insertDocuments(count, text('d'), `${text('f')} || '-${depth}${suffix}'`),
    folders: (count: number, parentFolderId: string | null, prefix = 'f') =>
      insertFolders(count, text(prefix), parentFolderId === null ? 'null' : `'${parentFolderId}'`),
    /** Folders `f<i>-1` to `f<i>-<depth>`, each inside the one before, for every `i` from 1 to `count`. All ids end with `suffix`. */
    folderChains(count: number, depth: number, suffix = '') {
      const [chain, level] = [`(i - 1) / ${depth} + 1`, `(i - 1) % ${depth} + 1`]
      const idAt = (level: string) => `${text('f', chain)} || '-' || (${level}) || '${suffix}'`
      const id = idAt(level)
      const parentId = `case when ${level} > 1 then ${idAt(`${level} - 1`)} end`
      return insertFolders(count * depth, id, parentId)
    },
    /** Spread over the documents `d1` to `d<documents>`. */
    editors: (count: number, documents: number) =>
      insert(
        count,
        'editors',
        'document_id, editor_id, type, content_key, seq, snapshot_seq, last_updated, last_updated_by, session_id, created_at',
        `${text('d', `1 + i % ${documents}`)}, ${text('e')}, 'text', 'content', 100, 0, 1, 'u', null, 1`,
      ),
    /** The log of editor `e<editor>` in `d<1 + editor % documents>`. */
    updates: (count: number, editor: number, documents: number, bytes: number) =>
      insert(
        count,
        'editor_updates',
        'document_id, editor_id, seq, bytes, user_id, created_at',
        `'d${1 + (editor % documents)}', 'e${editor}', i, ${zeros(bytes)}, 'u', 1`,
      ),
    /** Annotations `a1` to `a<count>` of a document, each with one comment. */
    async annotations(count: number, documentId: string, author = 'ada') {
      await insert(
        count,
        'annotations',
        'document_id, number, annotation_id, seq, created_seq, audience_seq, author_id, status_id, comments, comment_bytes, last_position, last_comment_seq, last_comment_by, other_comment_seq, data, created_at, last_updated',
        `'${documentId}', i, ${text('a')}, i, i, i, '${author}', 'OPEN', 1, 100, 1, i, '${author}', 0, '{"type":"comment","status":{"id":"OPEN","name":"Open","type":"default"}}', i, i`,
      )
      await insert(
        count,
        'comments',
        'document_id, number, comment_id, position, seq, author_id, data, created_at, last_updated',
        `'${documentId}', i, 1, 1, i, '${author}', '{"commentText":"x","mentioned":[]}', i, i`,
      )
    },
    notifications: (count: number, documents: number) =>
      insert(
        count,
        'notifications',
        'notification_id, public_id, document_id, location_id, data, timestamp',
        `${text('n')}, ${text('n')}, ${text('d', `1 + i % ${documents}`)}, null, '{}', i`,
      ),
    recipients: (count: number, notifications: number) =>
      insert(
        count,
        'notification_recipients',
        'notification_id, recipient, by_email, email, named, is_read, for_you, timestamp',
        `${text('n', `1 + i % ${notifications}`)}, ${text('u')}, 0, null, 0, 0, 1, 1`,
      ),
    /** Activities `a1` to `a<count>` of the document `d1`, by the user `u`, about the entity `e`. */
    activities: (count: number, { isImmutable = false, bytes = 0 } = {}) =>
      insert(
        count,
        'activities',
        'activity_id, document_id, timestamp, feature_type, action_type, user_id, target_entity_id, immutable, data',
        `${text('a')}, 'd1', i, 'custom', 'seen', 'u', 'e', ${isImmutable ? 1 : 0}, ${activityJson(bytes)}`,
      ),
    /** Notifications `n1` to `n<count>` go to one user. */
    inbox: (count: number, userId: string) =>
      insert(
        count,
        'notification_recipients',
        'notification_id, recipient, by_email, email, named, is_read, for_you, timestamp',
        `${text('n')}, '${userId}', 0, null, 0, 0, 1, i`,
      ),
    /** Grants on documents for users `<prefix>1` to `<prefix><users>`. */
    documentGrants: (count: number, users: number, prefix = 'u') =>
      insert(
        count,
        'grants',
        'resource_type, resource_id, user_id, access_role, expires_at, set_at, created_at',
        `'document', ${text('d')}, ${text(prefix, `1 + i % ${users}`)}, 'editor', null, 1, 1`,
      ),
    /** Grants on one document for users `u1` to `u<count>`. */
    usersOf: (documentId: string, count: number) =>
      insert(
        count,
        'grants',
        'resource_type, resource_id, user_id, access_role, expires_at, set_at, created_at',
        `'document', '${documentId}', ${text('u')}, 'editor', null, 1, i`,
      ),
    members: (count: number, prefix = 'u') =>
      insert(
        count,
        'grants',
        'resource_type, resource_id, user_id, access_role, expires_at, set_at, created_at',
        `'organization', '${organizationId}', ${text(prefix)}, 'editor', null, 1, 1`,
      ),
    groupMembers: (count: number, groupId: string) =>
      insert(count, 'user_group_members', 'group_id, user_id, created_at', `'${groupId}', ${text('u')}, 1`),
  }
}

/** Profiles of users `<prefix>1` to `<prefix><count>`. */
export const seedUsers = ({ write }: Database, apiKey: string, count: number, prefix = 'u') =>
  write(async (db) => {
    await sql`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
      insert into users (api_key, user_id, email, profile, created_at, last_updated)
      select ${sql.lit(apiKey)}, ${sql.lit(prefix)} || i, null, '{}', 1, 1 from n`.execute(db)
  })
