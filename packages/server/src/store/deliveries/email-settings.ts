import { type EmailConfig, enabledEvents, type EventName, type Triggers } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import * as serviceConfigs from '../service-configs.ts'

/** The stored settings of the email service, without the credential of the mail provider. */
export interface StoredEmailConfig extends Partial<
  Omit<EmailConfig['emailServiceConfig'], 'apiKey' | 'triggers'>
> {
  triggers?: Triggers
}

/** The events that are sent by email. None if the service is off. */
export async function findMailedEvents(db: Db, apiKey: string): Promise<ReadonlySet<EventName>> {
  const stored = await serviceConfigs.find<StoredEmailConfig>(db, apiKey, 'email')
  return enabledEvents(stored?.enabled ? (stored.config.triggers ?? {}) : {})
}

export async function findEmailConfig(db: Db, apiKey: string): Promise<StoredEmailConfig> {
  return (await serviceConfigs.find<StoredEmailConfig>(db, apiKey, 'email'))?.config ?? {}
}
