import { newId } from '../ids.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { readSettings, type ServiceSettings, writeSettings } from '../credentials/service-settings.ts'
import type { Db } from '../../store/engine/db.ts'

interface StoredConfig {
  permissionProviderUrl: string
  /** Changes with every change of the settings. */
  revision: string
}

/** Where the permission provider of an API key is. `credential` is the token that it gets. */
export type ProviderSettings = ServiceSettings<StoredConfig>

const noSettings: ProviderSettings = {
  enabled: false,
  config: { permissionProviderUrl: '', revision: '' },
  credential: '',
}

export async function readProviderSettings(
  db: Db,
  secrets: Secrets,
  apiKey: string,
): Promise<ProviderSettings> {
  return (await readSettings<StoredConfig>(db, secrets, apiKey, 'permissionProvider')) ?? noSettings
}

/** Stores the settings with a new revision. */
export function writeProviderSettings(
  db: Db,
  secrets: Secrets,
  apiKey: string,
  { enabled, config, credential }: ProviderSettings,
): Promise<void> {
  return writeSettings(db, secrets, apiKey, 'permissionProvider', {
    enabled,
    config: { ...config, revision: newId('rev') },
    credential,
  })
}
