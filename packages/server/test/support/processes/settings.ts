import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadSecrets } from '../../../src/access/credentials/secrets.ts'
import { newFolder } from '../data/folders.ts'
import {
  createEmptyPostgresDatabase,
  createPostgresDatabase,
  startServer,
  type Store,
  type TestServer,
} from '../harness.ts'

export const SECRET_KEY = 'a secret key that only these tests use'

type Settings = Record<string, string>

const settingsFor = async (store: Store, createDatabase: () => Promise<string>): Promise<Settings> => {
  const settings = { DATA_DIR: newFolder() }
  return store === 'sqlite' ? settings : { ...settings, SECRET_KEY, DATABASE_URL: await createDatabase() }
}

/** The settings of a server and of commands that use the same new database. */
export const newSettings = (store: Store): Promise<Settings> => settingsFor(store, createPostgresDatabase)

/** The same before the first start: the database has no schema yet. */
export const settingsBeforeStart = (store: Store): Promise<Settings> =>
  settingsFor(store, createEmptyPostgresDatabase)

/** The secret of these settings. Like a server, it creates the file of an embedded database that has none. */
function secretOf({ SECRET_KEY, DATA_DIR = '' }: Settings): string {
  if (SECRET_KEY !== undefined) return SECRET_KEY
  loadSecrets({ dataDir: DATA_DIR })
  return readFileSync(join(DATA_DIR, 'secret.key'), 'utf8').trim()
}

/**
 * Starts a server with these settings in this process, which costs a tenth of a process of its own. Commands may run beside
 * it. It ends with the test at the latest, and its data stays.
 */
export async function startWith(
  settings: Settings,
  options: { jobPollMs?: number } = {},
): Promise<TestServer & { end(): Promise<void> }> {
  const { DATA_DIR = '', DATABASE_URL, ...env } = settings
  const server = await startServer(DATABASE_URL === undefined ? 'sqlite' : 'postgres', {
    ...options,
    isAlone: true,
    data: { dataDir: DATA_DIR, databaseUrl: DATABASE_URL },
    env: { ...env, SECRET_KEY: secretOf(settings) },
  })
  let ended: Promise<void> | undefined
  const end = async () => {
    await server.server.stop()
    await server.database.close()
  }
  const endOnce = () => (ended ??= end())
  onTestFinished(endOnce)
  return { ...server, end: endOnce }
}
