import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** Foreign keys cascade: a row is deleted together with the row that holds it. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)
  const inKey = ['api_key']
  const inOrganization = ['api_key', 'organization_id']
  const inDocument = ['api_key', 'organization_id', 'document_id']
  const inEditor = [...inDocument, 'editor_id']

  await table('workspaces', 1, {
    workspace_id: 'id',
    name: 'text',
    owner_id: 'id',
    owner_email: 'text',
    owner_name: 'text',
    owner_avatar: 'text',
    token_id: 'id',
    token_issued_at: 'bigint',
    created_at: 'bigint',
  }).execute()
  await index('workspaces', ['owner_email'])

  await inside(
    table('api_keys', 1, {
      api_key: 'id',
      workspace_id: 'id',
      name: 'text',
      type: 'text',
      owner_email: 'text',
      options: 'text',
      created_at: 'bigint',
    }),
    'api_keys',
    'workspaces',
    ['workspace_id'],
  ).execute()
  await index('api_keys', ['workspace_id', 'created_at', 'api_key'])

  await inside(
    table('auth_tokens', 2, {
      api_key: 'id',
      token_id: 'id',
      name: 'text',
      domains: 'text',
      issued_at: 'bigint',
    }),
    'auth_tokens',
    'api_keys',
    inKey,
  ).execute()

  await inside(
    table('allowed_domains', 2, { api_key: 'id', domain: 'id', position: 'integer' }),
    'allowed_domains',
    'api_keys',
    inKey,
  ).execute()

  await inside(
    table('service_configs', 2, {
      api_key: 'id',
      service: 'id',
      enabled: 'integer',
      config: 'text',
      secret: 'bytes?',
    }),
    'service_configs',
    'api_keys',
    inKey,
  ).execute()

  await table('signing_keys', 1, {
    key_id: 'id',
    public_jwk: 'text',
    private_jwk: 'bytes',
    created_at: 'bigint',
  }).execute()

  await inside(
    table('organizations', 2, {
      api_key: 'id',
      organization_id: 'id',
      disabled: 'integer',
      data: 'text',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'organizations',
    'api_keys',
    inKey,
  ).execute()
  await index('organizations', ['api_key', 'created_at', 'organization_id'])

  await inside(
    table('folders', 3, {
      api_key: 'id',
      organization_id: 'id',
      folder_id: 'id',
      folder_name: 'text',
      parent_folder_id: 'id?',
      access_type: 'text?',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'folders',
    'organizations',
    inOrganization,
  )
    .addForeignKeyConstraint(
      'folders_in_folders',
      [...inOrganization, 'parent_folder_id'],
      'folders',
      [...inOrganization, 'folder_id'],
      (c) => c.onDelete('cascade'),
    )
    .execute()
  await index('folders', ['api_key', 'organization_id', 'parent_folder_id'])
  await index('folders', ['api_key', 'organization_id', 'created_at', 'folder_id'])

  await inside(
    inside(
      table('documents', 3, {
        api_key: 'id',
        organization_id: 'id',
        document_id: 'id',
        folder_id: 'id?',
        access_type: 'text?',
        disabled: 'integer',
        data: 'text',
        event_seq: 'bigint',
        created_at: 'bigint',
        last_updated: 'bigint',
      }),
      'documents',
      'organizations',
      inOrganization,
    ),
    'documents',
    'folders',
    ['api_key', 'organization_id', 'folder_id'],
  ).execute()
  await index('documents', ['api_key', 'organization_id', 'created_at', 'document_id'])
  await index('documents', ['api_key', 'organization_id', 'folder_id', 'created_at', 'document_id'])
  await index('documents', ['api_key', 'document_id'])

  await inside(
    table('document_migrations', 3, {
      api_key: 'id',
      organization_id: 'id',
      migration_id: 'id',
      document_id: 'id',
      new_document_id: 'id',
      status: 'text',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'document_migrations',
    'organizations',
    inOrganization,
  ).execute()

  await inside(
    table('users', 2, {
      api_key: 'id',
      user_id: 'id',
      email: 'text?',
      profile: 'text',
      created_at: 'bigint',
      last_updated: 'bigint',
    }),
    'users',
    'api_keys',
    inKey,
  ).execute()
  await index('users', ['api_key', 'email'])

  // A grant needs no existing resource (spec 0.8), so its only foreign key is the API key.
  await inside(
    table('grants', 5, {
      api_key: 'id',
      organization_id: 'id',
      resource_type: 'id',
      resource_id: 'id',
      user_id: 'id',
      access_role: 'text',
      expires_at: 'bigint?',
      set_at: 'bigint',
      created_at: 'bigint',
    }),
    'grants',
    'api_keys',
    inKey,
  ).execute()
  await index('grants', ['api_key', 'organization_id', 'user_id'])
  // This index lists the users of one resource, and of all documents, in the order of the lists.
  await db.schema
    .createIndex('grants_in_order')
    .on('grants')
    .columns(['api_key', 'organization_id', 'resource_type', 'resource_id', 'created_at', 'user_id'])
    .execute()
  // Housekeeping reads this index. Few grants have an expiry.
  await db.schema
    .createIndex('grants_ending')
    .on('grants')
    .columns(['expires_at'])
    .where(sql.ref('expires_at'), 'is not', null)
    .execute()

  await inside(
    table('user_groups', 3, {
      api_key: 'id',
      organization_id: 'id',
      group_id: 'id',
      group_name: 'text',
      created_at: 'bigint',
    }),
    'user_groups',
    'organizations',
    inOrganization,
  ).execute()
  await inside(
    table('user_group_members', 4, {
      api_key: 'id',
      organization_id: 'id',
      group_id: 'id',
      user_id: 'id',
      created_at: 'bigint',
    }),
    'user_group_members',
    'user_groups',
    ['api_key', 'organization_id', 'group_id'],
  ).execute()
  await index('user_group_members', ['api_key', 'organization_id', 'user_id'])

  await inside(
    table('presence', 4, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      user_id: 'id',
      source: 'text',
      status: 'text',
      data: 'text',
      last_updated: 'bigint',
    }),
    'presence',
    'documents',
    inDocument,
  ).execute()
  await index('presence', ['last_updated'])

  await inside(
    table('live_states', 4, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      live_state_data_id: 'id',
      data: 'text',
      seq: 'bigint',
      updated_by: 'id',
      last_updated: 'bigint',
    }),
    'live_states',
    'documents',
    inDocument,
  ).execute()

  await inside(
    table('editors', 4, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      type: 'text?',
      content_key: 'text?',
      seq: 'bigint',
      snapshot_seq: 'bigint',
      last_updated: 'bigint',
      last_updated_by: 'text',
      session_id: 'text?',
      created_at: 'bigint',
    }),
    'editors',
    'documents',
    inDocument,
  ).execute()
  await inside(
    table('editor_snapshots', 4, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      bytes: 'bytes',
    }),
    'editor_snapshots',
    'editors',
    inEditor,
  ).execute()
  await inside(
    table('editor_updates', 5, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      seq: 'bigint',
      bytes: 'bytes',
      user_id: 'text',
      created_at: 'bigint',
    }),
    'editor_updates',
    'editors',
    inEditor,
  ).execute()
  await inside(
    table('editor_clients', 5, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      client_id: 'bigint',
      user_id: 'text',
    }),
    'editor_clients',
    'editors',
    inEditor,
  ).execute()
  await inside(
    table('editor_versions', 5, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      version_id: 'id',
      name: 'text',
      type: 'text',
      content_key: 'text',
      created_at: 'bigint',
      bytes: 'bytes',
    }),
    'editor_versions',
    'editors',
    inEditor,
  ).execute()

  await table('jobs', 1, {
    job_id: 'id',
    api_key: 'id',
    kind: 'text',
    payload: 'text',
    attempts: 'integer',
    run_at: 'bigint',
    leased_until: 'bigint',
    created_at: 'bigint',
  }).execute()
  await index('jobs', ['leased_until'])

  await table('idempotency_keys', 3, {
    scope: 'id',
    operation: 'id',
    idempotency_key: 'id',
    body_hash: 'text',
    http_status: 'integer',
    response: 'bytes',
    created_at: 'bigint',
  }).execute()
  await index('idempotency_keys', ['created_at'])

  await table('locks', 1, { name: 'id', taken: 'bigint' }).execute()
}
