import { newFolder } from '../data/folders.ts'
import { createEmptyPostgresDatabase, type Store } from '../harness.ts'

export const SECRET_KEY = 'a secret key that only these tests use'

/** The settings of a server and of commands that use the same new database. */
export async function newSettings(store: Store): Promise<Record<string, string>> {
  const settings = { DATA_DIR: newFolder() }
  return store === 'sqlite'
    ? settings
    : { ...settings, SECRET_KEY, DATABASE_URL: await createEmptyPostgresDatabase() }
}
