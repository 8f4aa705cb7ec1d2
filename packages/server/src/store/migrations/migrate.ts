import {
  type DatabaseIntrospector,
  DEFAULT_MIGRATION_TABLE,
  type Kysely,
  Migrator,
  type QueryExecutorProvider,
  sql,
} from 'kysely'
import { OpenError } from '../engine/failures.ts'
import type { ColumnTypes, Migrations } from './migration.ts'

const types: Record<ColumnTypes['dialect'], ColumnTypes> = {
  sqlite: { dialect: 'sqlite', id: 'text', bytes: 'blob' },
  postgres: { dialect: 'postgres', id: sql`text collate "C"`, bytes: 'bytea' },
}

/** A database with any schema. */
type AnyDatabase = QueryExecutorProvider & { readonly introspection: DatabaseIntrospector }

export function createMigrator(
  db: Kysely<unknown>,
  dialect: ColumnTypes['dialect'],
  migrations: Migrations,
): Migrator {
  const provider = {
    getMigrations: async () =>
      Object.fromEntries(
        Object.entries(migrations).map(([name, { up }]) => [
          name,
          { up: (db: Kysely<unknown>) => up(db, types[dialect]) },
        ]),
      ),
  }
  return new Migrator({ db, provider })
}

/**
 * The migrations that the database lacks, and whether it has none yet. Throws if it has one that this server does not know:
 * a newer server has made it, and this one might destroy what the newer one stores.
 */
export async function findPending(
  db: Kysely<unknown>,
  migrations: Migrations,
): Promise<{ pending: string[]; isEmpty: boolean }> {
  const executed = await findExecuted(db)
  const unknown = executed.find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) {
    throw new OpenError(
      `A newer version of Plenum has upgraded the database: this version does not know its schema ${unknown}. Start the newer version, or restore a backup from before the upgrade.`,
    )
  }
  const pending = Object.keys(migrations).filter((name) => !executed.includes(name))
  return { pending, isEmpty: executed.length === 0 }
}

async function findExecuted(db: AnyDatabase): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * Compares the schema of the database with this version of Plenum. `empty`: no server has started with this database yet.
 * `newer`: a newer version has upgraded it.
 */
export async function schemaState(
  db: AnyDatabase,
  migrations: Migrations,
): Promise<'empty' | 'older' | 'current' | 'newer'> {
  const executed = await findExecuted(db)
  if (executed.length === 0) return 'empty'
  if (executed.some((name) => !Object.hasOwn(migrations, name))) return 'newer'
  return executed.length < Object.keys(migrations).length ? 'older' : 'current'
}

/** Makes all pending migrations in one transaction. For a database that no other server uses. */
export async function migrateAtOnce(
  db: Kysely<unknown>,
  dialect: ColumnTypes['dialect'],
  migrations: Migrations,
): Promise<void> {
  const { pending } = await findPending(db, migrations)
  if (pending.length === 0) return
  const { error } = await createMigrator(db, dialect, migrations).migrateToLatest()
  if (error) throw error
}
