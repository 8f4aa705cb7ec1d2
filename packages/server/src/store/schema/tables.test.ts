import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { removalSteps } from '../deletions/removal.ts'
import { type Position, runSteps } from '../deletions/row-step.ts'
import type { Scope } from '../deletions.ts'
import { mergeInto, moveRest } from '../deletions/document-merge.ts'
import * as documents from '../documents/documents.ts'
import * as organizations from '../organizations.ts'
import { tables } from './tables.ts'
import { fill } from '../../../test/support/data/filled-tenant.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { readSchema, type StoredTable } from '../../../test/support/table/stored-schema.ts'

/**
 * Tables whose keys do not begin with the API key, and why. A database that is distributed by API key keeps them in one place or
 * copies them to each of its servers; docs/guides/scaling.md says which.
 */
const notByTenant: Record<string, string> = {
  address_calls: 'Callers of public operations have no API key.',
  event_log: 'It describes the database server.',
  event_names: 'Its secret is for the positions of all API keys.',
  events:
    'Transaction ids of one database server order the events of all tenants, so they cannot be distributed.',
  idempotency_keys: 'The scope names an API key, a workspace or an address.',
  imports: 'A workspace is imported with all its API keys.',
  locks: 'A lock is found by its name.',
  login_links: 'They belong to the owners of workspaces.',
  signing_keys: 'Signing keys belong to the server.',
  workspaces: 'A workspace contains API keys.',
}
/** Foreign keys that do not begin with the API key, and why. */
const foreignKeysNotByTenant: Record<string, string> = {
  'api_keys (workspace_id)':
    'An API key is found before its tenant is known. There are few workspaces and API keys.',
  'imports (workspace_id)': 'An import belongs to a workspace. There are few imports.',
}

type Described = Record<
  string,
  {
    parent: string | null
    noForeignKey?: string
    outlivesDocument?: string
    onMove?: 'cascade' | 'in steps' | object
    hasBytes?: true
  }
>
const described: Described = tables

describe.each(stores)('[P13] the tables on %s', (store) => {
  const server = useServer(store)
  let schema: StoredTable[] = []
  beforeAll(async () => {
    schema = await readSchema(server.database)
  })
  const withColumn = (column: string) => schema.filter(({ columns }) => columns.includes(column))
  const namesOf = (found: StoredTable[]) => found.map(({ name }) => name)

  test('[P13] store/schema/tables.ts describes exactly the tables of the database', () => {
    expect(namesOf(schema)).toEqual(Object.keys(tables).sort())
  })

  test('[P13.1] every primary key, unique index and foreign key begins with api_key, except those that are listed with a reason', () => {
    const byTenant = schema.filter(({ primaryKey }) => primaryKey[0] === 'api_key')
    const others = schema.filter((table) => !byTenant.includes(table))
    expect(namesOf(others)).toEqual(Object.keys(notByTenant))
    expect(byTenant.length).toBeGreaterThan(20)
    const unique = byTenant.flatMap(({ name, uniqueIndexes }) => uniqueIndexes.map((key) => [name, key[0]]))
    expect(unique.filter(([, first]) => first !== 'api_key')).toEqual([])
    expect(unique.length).toBeGreaterThan(byTenant.length)
    const foreign = schema.flatMap(({ name, foreignKeys }) =>
      foreignKeys.flatMap(({ columns }) =>
        columns[0] === 'api_key' ? [] : `${name} (${columns.join(', ')})`,
      ),
    )
    expect(foreign).toEqual(Object.keys(foreignKeysNotByTenant))
  })

  test('[8.4] [10.8] the described parent of a table is the table from which a foreign key cascades deletions and renames', () => {
    const chains = schema.map(({ name, foreignKeys }) => {
      const parents = foreignKeys.filter(
        ({ parent, onDelete, onUpdate }) =>
          parent !== name && onDelete === 'cascade' && onUpdate === 'cascade',
      )
      // A document also has a foreign key to its folder, but its described parent is the organization.
      return [name, parents.map(({ parent }) => parent).filter((parent) => parent !== 'folders')]
    })
    const expected = schema.map(({ name }) => [name, [described[name]!.parent ?? []].flat()])
    expect(chains).toEqual(expected)
  })

  /** Whether foreign keys delete rows of the table `name` together with their row of `ancestor`. */
  const cascadesFrom = (name: string, ancestor: string): boolean => {
    const { parent = null } = described[name] ?? {}
    return parent !== null && (parent === ancestor || cascadesFrom(parent, ancestor))
  }

  test.each([
    ['organization_id', 'organizations'],
    ['document_id', 'documents'],
  ])('[8.4] every table with %s cascades from %s or gives a reason why not', (column, ancestor) => {
    const found = withColumn(column).filter(({ name }) => name !== ancestor)
    for (const { name } of found) {
      const { noForeignKey, outlivesDocument, onMove } = described[name]!
      const reason =
        noForeignKey ??
        outlivesDocument ??
        (typeof onMove === 'object' && 'stays' in onMove ? onMove.stays : '')
      expect([name, cascadesFrom(name, ancestor) || reason !== '']).toEqual([name, true])
    }
    expect(found.length).toBeGreaterThan(10)
  })

  test('[10.8] every table with a document_id declares what happens when its document moves', () => {
    for (const { name, foreignKeys } of withColumn('document_id').filter(
      ({ name }) => name !== 'documents',
    )) {
      const { onMove, parent } = described[name]!
      expect([name, onMove === undefined]).toEqual([name, false])
      if (onMove !== 'cascade') continue
      const followed = foreignKeys.filter(({ columns }) => columns.includes('document_id'))
      expect([name, followed.map((key) => key.parent)]).toEqual([name, [parent]])
    }
  })

  test('[8.4] hasBytes marks exactly the tables with a column bytes', () => {
    const withBytes = Object.keys(described).filter((name) => described[name]!.hasBytes)
    expect(namesOf(withColumn('bytes'))).toEqual(withBytes.sort())
  })

  /** Returns the names of the tables with rows that match the condition. */
  const filledTables = async (found: StoredTable[], condition: ReturnType<typeof sql>) => {
    const filled: string[] = []
    for (const { name } of found) {
      const { rows } = await sql`select 1 from ${sql.table(name)} where ${condition} limit 1`.execute(
        server.database.read,
      )
      if (rows.length > 0) filled.push(name)
    }
    return filled
  }

  /** Creates a tenant with rows in every table. Two functions list the tables with rows of its document or organization. */
  async function filledTenant() {
    const tenant = await given.tenant(server)
    const { apiKey } = tenant
    const { organizationId, documentId } = await fill(server, tenant)
    const ofDocument = (id = documentId) =>
      filledTables(withColumn('document_id'), sql`api_key = ${apiKey} and document_id = ${id}`)
    const inOrganization = () =>
      filledTables(
        withColumn('organization_id'),
        sql`api_key = ${apiKey} and organization_id = ${organizationId}`,
      )
    const removeInSteps = async (scope: Scope) => {
      const steps = removalSteps(apiKey, scope)
      for (let next: Position | undefined = { step: 0 }; next;) {
        const from: Position = next
        next = await server.database.write((db) => runSteps(db, steps, from, []))
      }
    }
    return { apiKey, organizationId, documentId, ofDocument, inOrganization, removeInSteps }
  }

  test('[10.4] deleting a document leaves no row that names it, except its migrations', async () => {
    const { apiKey, organizationId, documentId, ofDocument } = await filledTenant()
    expect(await ofDocument()).toEqual(namesOf(withColumn('document_id')))
    await server.database.write((db) => documents.remove(db, apiKey, organizationId, [documentId]))
    expect(await ofDocument()).toEqual(['document_migrations'])
  })

  test('[10.4] deleting a document in steps leaves only its own row and its migrations', async () => {
    const { organizationId, documentId, ofDocument, removeInSteps } = await filledTenant()
    await removeInSteps({ organizationId, documentIds: [documentId] })
    expect(await ofDocument()).toEqual(['document_migrations', 'documents'])
  })

  test('[8.4] deleting an organization leaves no row that names it, and deleting in steps leaves only its own row', async () => {
    const one = await filledTenant()
    expect(await one.inOrganization()).toEqual(namesOf(withColumn('organization_id')))
    await server.database.write((db) => organizations.remove(db, one.apiKey, [one.organizationId]))
    expect(await one.inOrganization()).toEqual([])

    const other = await filledTenant()
    await other.removeInSteps({ organizationIds: [other.organizationId] })
    expect(await other.inOrganization()).toEqual(['organizations'])
  })

  test('[10.8] moving a document moves its rows of every table, except those that stay', async () => {
    const { apiKey, organizationId, documentId, ofDocument } = await filledTenant()
    await server.database.write(async (db) => {
      await mergeInto(db, apiKey, organizationId, documentId, 'moved', 1)
      await moveRest(db, apiKey, organizationId, documentId, 'moved')
    })
    expect(await ofDocument()).toEqual(['document_migrations'])
    const stays = (name: string) => {
      const { onMove } = described[name]!
      return typeof onMove === 'object' && 'stays' in onMove
    }
    const moved = namesOf(withColumn('document_id')).filter((name) => !stays(name))
    expect(await ofDocument('moved')).toEqual(moved)
  })
})
