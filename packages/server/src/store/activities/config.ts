import { type ActivityServiceConfig, enabledEvents, type EventName, toDotted } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import * as serviceConfigs from '../service-configs.ts'

/** How activities of an API key are recorded. */
export interface ActivitySettings {
  isEnabled: boolean
  /** Whether new activities can be neither changed nor deleted. */
  immutable: boolean
  /** The events that the server records as activities. None if the log is off. */
  events: ReadonlySet<EventName>
}

/** Reads the settings that apply. */
export async function findSettings(db: Db, apiKey: string): Promise<ActivitySettings> {
  const { isEnabled, immutable = false, triggers = {} } = await find(db, apiKey)
  return { isEnabled, immutable, events: enabledEvents(isEnabled ? toDotted(triggers) : {}) }
}

/** The stored settings. If none are stored, the log is off. */
export async function find(db: Db, apiKey: string): Promise<ActivityServiceConfig> {
  const stored = await serviceConfigs.find<Omit<ActivityServiceConfig, 'isEnabled'>>(db, apiKey, 'activity')
  return { isEnabled: false, ...stored?.config, ...(stored?.enabled && { isEnabled: true }) }
}

export const save = (db: Db, apiKey: string, { isEnabled, ...config }: ActivityServiceConfig) =>
  serviceConfigs.save(db, apiKey, 'activity', { enabled: isEnabled, config, secret: null })
