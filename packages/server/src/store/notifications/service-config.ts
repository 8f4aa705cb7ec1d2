import {
  defaultTriggers,
  enabledEvents,
  type EventName,
  type NotificationServiceConfig,
  toDotted,
  toGrouped,
} from '@plenum/protocol'
import type { ApiKey } from '../api-keys.ts'
import type { Db } from '../engine/db.ts'
import * as serviceConfigs from '../service-configs.ts'

const defaultBatch = { isEnabled: false, batchWindowSeconds: 10, maxActivities: 2 }
type Batch = typeof defaultBatch

/** How the notification service works for an API key. */
export interface NotificationSettings {
  /** The events that notify users. None if the service is off. */
  events: ReadonlySet<EventName>
  /** How long a notification is held back. 0: it is sent at once. */
  delaySeconds: number
  /** The batches in which notifications are collected. Undefined: not collected. */
  batches: Partial<Record<'document' | 'user', Pick<Batch, 'batchWindowSeconds' | 'maxActivities'>>>
}

/** Reads the settings that apply: the stored ones, else the defaults. */
export async function findSettings(
  db: Db,
  { apiKey, options }: Pick<ApiKey, 'apiKey' | 'options'>,
): Promise<NotificationSettings> {
  const { triggers, delayConfig, batchConfig } = withDefaults(await find(db, apiKey))
  const { document, user } = batchConfig
  return {
    events: enabledEvents(options.useNotificationService ? toDotted(triggers) : {}),
    delaySeconds: delayConfig.isEnabled ? delayConfig.delaySeconds : 0,
    batches: { ...(document.isEnabled && { document }), ...(user.isEnabled && { user }) },
  }
}

/** The stored settings, without defaults. */
export async function find(db: Db, apiKey: string): Promise<NotificationServiceConfig> {
  return (await serviceConfigs.find<NotificationServiceConfig>(db, apiKey, 'notification'))?.config ?? {}
}

/** The option `useNotificationService` of the API key says whether the service is on, not the column `enabled`. */
export const save = (db: Db, apiKey: string, config: NotificationServiceConfig) =>
  serviceConfigs.save(db, apiKey, 'notification', { enabled: true, config, secret: null })

/** The settings that apply (spec 5.1.1). */
export const withDefaults = ({ triggers, delayConfig, batchConfig }: NotificationServiceConfig) => ({
  triggers: triggers ?? toGrouped(defaultTriggers.notification),
  delayConfig: { isEnabled: false, delaySeconds: 10, ...delayConfig },
  batchConfig: {
    document: { ...defaultBatch, ...batchConfig?.document },
    user: { ...defaultBatch, ...batchConfig?.user },
  },
})
