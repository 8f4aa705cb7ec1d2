import type { Schema } from './schema.ts'

export type Table = keyof Schema

type TablesWith<Column extends string> = {
  [T in Table]: Column extends keyof Schema[T] ? T : never
}[Table]

interface TableDescription {
  /**
   * The table that holds these rows. A foreign key deletes a row together with the row that holds it, and changes its key
   * together with that row's key.
   */
  parent: Table | null
  /**
   * Why no foreign key deletes the rows with their organization or document. The code that deletes an organization or
   * document deletes its rows.
   */
  noForeignKey?: string
  /**
   * Why some rows of a document stay when it is deleted. The code that deletes a document deletes the other rows. A foreign
   * key deletes all of them with their organization.
   */
  outlivesDocument?: string
}

/** Tables inside an organization: how many rows one statement deletes on SQLite, where it holds the event loop for 5 ms. */
interface InOrganization {
  rowsPerDelete: number
}

/** Tables whose rows name a document: what happens when the document moves to another id. */
interface OfDocument {
  onMove:
    | 'cascade'
    | 'in steps'
    /** `key` distinguishes the rows of one document. A row that the target already has is not overwritten. */
    | { atOnce: { key: string; rowsPerUpdate: number } }
    /** Why the row stays: it names the document, but does not belong to it. */
    | { stays: string }
}

/** Tables with a column of bytes: SQLite takes 10 to 20 ms to delete a mebibyte of them. */
interface WithBytes {
  hasBytes: true
}

type Description<T extends Table> = TableDescription &
  (T extends Exclude<TablesWith<'organization_id'>, 'organizations'> ? InOrganization : unknown) &
  (T extends Exclude<TablesWith<'document_id'>, 'documents'> ? OfDocument : unknown) &
  (T extends TablesWith<'bytes'> ? WithBytes : unknown)

/**
 * Every table, and how its rows follow the row that holds them. The code that deletes and moves documents derives its lists
 * from this. The compiler demands an entry for every table; `src/store/schema/tables.test.ts` compares it with both databases.
 */
export const tables = {
  workspaces: { parent: null },
  api_keys: { parent: 'workspaces' },
  auth_tokens: { parent: 'api_keys' },
  allowed_domains: { parent: 'api_keys' },
  service_configs: { parent: 'api_keys' },
  webhook_endpoints: { parent: 'api_keys' },
  signing_keys: { parent: null },
  organizations: { parent: 'api_keys' },
  folders: { parent: 'organizations', rowsPerDelete: 100 },
  documents: { parent: 'organizations', rowsPerDelete: 100 },
  document_migrations: {
    parent: 'organizations',
    rowsPerDelete: 200,
    onMove: { stays: 'Its state can be read after the document is moved or deleted (spec 10.9).' },
  },
  users: { parent: 'api_keys' },
  grants: {
    parent: 'api_keys',
    rowsPerDelete: 200,
    noForeignKey:
      'A user can be granted an organization, folder or document that does not exist yet (spec 0.8).',
  },
  user_groups: { parent: 'organizations', rowsPerDelete: 100 },
  user_group_members: { parent: 'user_groups', rowsPerDelete: 200 },
  presence: {
    parent: 'documents',
    rowsPerDelete: 200,
    onMove: { atOnce: { key: 'user_id', rowsPerUpdate: 500 } },
  },
  live_states: {
    parent: 'documents',
    rowsPerDelete: 50,
    onMove: { atOnce: { key: 'live_state_data_id', rowsPerUpdate: 200 } },
  },
  // Foreign keys move the log of an editor together with its row.
  editors: {
    parent: 'documents',
    rowsPerDelete: 50,
    onMove: { atOnce: { key: 'editor_id', rowsPerUpdate: 20 } },
  },
  editor_snapshots: { parent: 'editors', rowsPerDelete: 50, onMove: 'cascade', hasBytes: true },
  editor_snapshot_parts: { parent: 'editors', rowsPerDelete: 50, onMove: 'cascade', hasBytes: true },
  editor_updates: { parent: 'editors', rowsPerDelete: 50, onMove: 'cascade', hasBytes: true },
  editor_clients: { parent: 'editors', rowsPerDelete: 200, onMove: 'cascade' },
  editor_versions: { parent: 'editors', rowsPerDelete: 50, onMove: 'cascade', hasBytes: true },
  editor_version_parts: { parent: 'editor_versions', rowsPerDelete: 50, onMove: 'cascade', hasBytes: true },
  editor_version_authors: { parent: 'editor_versions', rowsPerDelete: 200, onMove: 'cascade' },
  annotations: { parent: 'documents', rowsPerDelete: 50, onMove: 'in steps' },
  // A comment may have 64 KiB, an event 80 KiB.
  comments: { parent: 'annotations', rowsPerDelete: 10, onMove: 'cascade' },
  annotation_users: { parent: 'annotations', rowsPerDelete: 200, onMove: 'cascade' },
  comment_reactions: { parent: 'comments', rowsPerDelete: 200, onMove: 'cascade' },
  annotation_views: { parent: 'annotations', rowsPerDelete: 200, onMove: 'cascade' },
  removed_annotations: {
    parent: 'documents',
    rowsPerDelete: 200,
    onMove: { stays: 'Clients load the moved document anew, so nothing is left for them to remove.' },
  },
  events: {
    parent: 'api_keys',
    rowsPerDelete: 10,
    onMove: 'in steps',
    noForeignKey: 'An event can be about no document and no organization.',
  },
  pruned_events: { parent: 'api_keys' },
  event_log: { parent: null },
  event_names: { parent: null },
  notifications: { parent: 'documents', rowsPerDelete: 100, onMove: 'in steps' },
  notification_recipients: { parent: 'notifications', rowsPerDelete: 200 },
  notification_configs: {
    parent: 'api_keys',
    rowsPerDelete: 200,
    onMove: 'in steps',
    noForeignKey: 'A user can choose for a document that does not exist yet, or for the whole organization.',
  },
  pending_notifications: { parent: 'documents', rowsPerDelete: 200, onMove: 'in steps' },
  activities: {
    parent: 'organizations',
    rowsPerDelete: 50,
    onMove: 'in steps',
    outlivesDocument: 'Immutable activities stay (spec 10.4.1).',
  },
  deletions: { parent: 'api_keys' },
  openings: { parent: 'api_keys' },
  erasures: { parent: 'api_keys' },
  delivery_messages: { parent: null },
  deliveries: { parent: 'delivery_messages' },
  digest_items: { parent: 'organizations', rowsPerDelete: 200 },
  jobs: { parent: null },
  idempotency_keys: { parent: null },
  login_links: { parent: null },
  address_calls: { parent: null },
  locks: { parent: null },
  signals: { parent: null },
  imports: { parent: 'workspaces' },
} as const satisfies { readonly [T in Table]: Description<T> }

type Tables = typeof tables

/** Tables whose description has these members. */
type TablesWhere<Members> = { [T in Table]: Tables[T] extends Members ? T : never }[Table]

export type TableInOrganization = TablesWhere<InOrganization>
export type TableOfDocument = TablesWhere<OfDocument>
export type TableMovedInSteps = TablesWhere<{ onMove: 'in steps' }>

const names = Object.keys(tables) as Table[]

/** All tables below this one, children before their parents. */
function tablesBelow(table: Table): Table[] {
  return names
    .filter((name) => tables[name].parent === table)
    .flatMap((child) => [...tablesBelow(child), child])
}

const isOfDocument = (table: Table): table is TableOfDocument => 'onMove' in tables[table]
const hasNoForeignKey = (table: Table): table is TablesWhere<{ noForeignKey: string }> =>
  'noForeignKey' in tables[table]

export const hasBytes = (table: Table): boolean => 'hasBytes' in tables[table]

/** Tables whose rows foreign keys delete with their organization; children before their parents. */
export const tablesInOrganizations = tablesBelow('organizations') as TableInOrganization[]

/** Tables with a `document_id` whose rows foreign keys delete with their document; children before their parents. */
export const tablesInDocuments = tablesBelow('documents').filter(isOfDocument)

/** Tables whose rows no foreign key deletes with their organization: the code that deletes an organization deletes them. */
export const tablesWithoutForeignKey = names.filter(hasNoForeignKey)

/** As `tablesWithoutForeignKey`, for documents. Their grants, which have no `document_id`, are deleted separately. */
export const documentTablesWithoutForeignKey = tablesWithoutForeignKey.filter((table) => table !== 'grants')

/** Tables whose rows move in the transaction that moves their document. */
export const tablesMovedAtOnce = names.filter(isOfDocument).flatMap((table) => {
  const { onMove } = tables[table]
  return typeof onMove === 'object' && 'atOnce' in onMove ? { table, ...onMove.atOnce } : []
})
