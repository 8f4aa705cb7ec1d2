import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

const document = ['api_key', 'organization_id', 'document_id']
const annotation = [...document, 'number']

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)
  const inDocument = { api_key: 'id', organization_id: 'id', document_id: 'id' } as const
  const inAnnotation = { ...inDocument, number: 'bigint' } as const

  // The number of the newest annotation. Numbers are never used again.
  await db.schema
    .alterTable('documents')
    .addColumn('annotation_number', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()

  await inside(
    table('annotations', 4, {
      ...inAnnotation,
      annotation_id: 'id',
      seq: 'bigint',
      created_seq: 'bigint',
      audience_seq: 'bigint',
      author_id: 'id',
      assignee_id: 'id?',
      resolved_by: 'id?',
      status_id: 'id',
      location_id: 'id?',
      comments: 'integer',
      comment_bytes: 'integer',
      last_position: 'bigint',
      last_comment_seq: 'bigint',
      last_comment_by: 'id',
      other_comment_seq: 'bigint',
      audience: 'text?',
      data: 'text',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'annotations',
    'documents',
    document,
  ).execute()
  await db.schema
    .createIndex('annotations_by_annotation_id')
    .on('annotations')
    .columns(['api_key', 'organization_id', 'annotation_id', 'document_id'])
    .unique()
    .execute()
  // The orders of the lists: by document, and of all documents of an organization.
  await index('annotations', [...document, 'last_updated', 'number'])
  await index('annotations', ['api_key', 'organization_id', 'last_updated', 'document_id', 'number'])
  // The feed of a document reads the annotations that changed after a number.
  await index('annotations', [...document, 'seq'])

  await inside(
    table('comments', 5, {
      ...inAnnotation,
      comment_id: 'bigint',
      position: 'bigint',
      seq: 'bigint',
      author_id: 'id',
      data: 'text',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'comments',
    'annotations',
    annotation,
  ).execute()

  await inside(
    table('annotation_users', 6, { ...inAnnotation, user_id: 'id', involvement: 'text' }),
    'annotation_users',
    'annotations',
    annotation,
  ).execute()
  await index('annotation_users', ['api_key', 'organization_id', 'user_id', 'involvement'])

  await inside(
    table('comment_reactions', 7, {
      ...inAnnotation,
      comment_id: 'bigint',
      icon: 'text',
      user_id: 'id',
      created_at: 'bigint',
    }),
    'comment_reactions',
    'comments',
    [...annotation, 'comment_id'],
  ).execute()

  await inside(
    table('annotation_views', 5, {
      ...inDocument,
      user_id: 'id',
      number: 'bigint',
      viewed_seq: 'bigint',
      viewed_at: 'bigint',
    }),
    'annotation_views',
    'annotations',
    annotation,
  ).execute()
  // For the foreign key: without it, the deletion of an annotation would read all views of the document.
  await index('annotation_views', annotation)

  await inside(
    table('removed_annotations', 4, {
      ...inDocument,
      annotation_id: 'id',
      seq: 'bigint',
      audience: 'text?',
    }),
    'removed_annotations',
    'documents',
    document,
  ).execute()
  await index('removed_annotations', [...document, 'seq'])

  await createEvents(db, types)
}

/** The database numbers events with its own counters. */
async function createEvents(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { id, dialect } = types
  const isPostgres = dialect === 'postgres'
  await db.schema
    .createTable('events')
    .addColumn('event_id', isPostgres ? 'bigserial' : 'integer', (column) =>
      isPostgres ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('api_key', id, (column) => column.notNull())
    .addColumn('transaction_id', 'bigint', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('organization_id', id)
    .addColumn('document_id', id)
    .addColumn('annotation_id', id)
    .addColumn('actor_id', id)
    .addColumn('audience', 'text')
    .addColumn('notifies', 'integer', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addForeignKeyConstraint('events_in_api_keys', ['api_key'], 'api_keys', ['api_key'], (key) =>
      key.onDelete('cascade').onUpdate('cascade'),
    )
    .execute()
  const { index, inside, table } = ddl(db, types)
  await index('events', ['api_key', 'transaction_id', 'event_id'])
  await index('events', ['created_at'])
  // For the deletion and the move of documents.
  await index('events', ['api_key', 'organization_id', 'document_id'])
  await inside(
    table('pruned_events', 1, { api_key: 'id', transaction_id: 'bigint', event_id: 'bigint' }),
    'pruned_events',
    'api_keys',
    ['api_key'],
  ).execute()
  await table('event_log', 1, { server: 'id', first_transaction_id: 'bigint' }).execute()
}
