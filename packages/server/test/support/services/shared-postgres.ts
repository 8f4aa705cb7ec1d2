import { openDatabase } from '../../../src/store/engine/open.ts'
import { createDatabase, givenOrStarted, type TestPostgres } from './postgres.ts'
import { askFor, type SharedService } from './shared-services.ts'

/** The PostgreSQL on which the tests of a run create their own databases. */
export interface SharedPostgres {
  url: string
  /** The name of a database with the newest schema. Copying it is faster than running all migrations again. */
  migratedDatabase: string
  socketDir?: string | undefined
}

export function sharedPostgres(): SharedService {
  let postgres: TestPostgres | undefined
  return {
    async start(): Promise<SharedPostgres> {
      postgres = await givenOrStarted()
      const { url, socketDir } = postgres
      return { url, socketDir, migratedDatabase: await createMigratedDatabase(url) }
    },
    stop: async () => postgres?.stop(),
  }
}

async function createMigratedDatabase(adminUrl: string): Promise<string> {
  const url = await createDatabase(adminUrl)
  const settings = { url, dataDir: '', durability: 'full', poolSize: 1, timeoutMs: 30_000 } as const
  const database = await openDatabase(settings)
  await database.close()
  return new URL(url).pathname.slice(1)
}

let asked: Promise<unknown> | undefined

/** For workers: the PostgreSQL of this run. Throws `MissingProgram` if there is none. */
export const postgresForTests = () => (asked ??= askFor('postgres')) as Promise<SharedPostgres>

/** The same database by its Unix socket, which takes less processor time than TCP. The address of a proxy stays as it is. */
export async function bySocket(databaseUrl: string): Promise<string> {
  if (!asked) return databaseUrl
  const { url, socketDir } = await postgresForTests()
  const own = new URL(databaseUrl)
  if (socketDir !== undefined && own.host === new URL(url).host) own.searchParams.set('host', socketDir)
  return own.href
}
