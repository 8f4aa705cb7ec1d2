import {
  ApiError,
  defaultTriggers,
  type NotificationServiceConfig,
  type Operations,
  toDotted,
  toGrouped,
} from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import * as notificationService from '../store/notifications/service-config.ts'
import { changeOptions } from './shared/api-key-options.ts'
import { withoutNulls } from './shared/without-nulls.ts'

export const notificationServiceConfigHandlers: Handlers<Operations['notificationServiceConfig']> = {
  async get({ caller: { apiKey, options }, db }) {
    const stored = await notificationService.find(db, apiKey)
    return {
      useNotificationService: options.useNotificationService,
      notificationServiceConfig: notificationService.withDefaults(stored),
    }
  },

  async update(call) {
    const { input, caller, db } = call
    const { useNotificationService, notificationServiceConfig: sent } = input
    if (useNotificationService === undefined && sent === undefined) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one of useNotificationService or notificationServiceConfig must be provided',
      )
    }
    const stored = await notificationService.find(db, caller.apiKey)
    const config = merge(stored, sent ?? {}, useNotificationService === true)
    await notificationService.save(db, caller.apiKey, config)
    const options = await changeOptions(call, withoutNulls({ useNotificationService }))
    return { useNotificationService: options.useNotificationService, notificationServiceConfig: config }
  },
}

/** The settings after a change. `isEnabled`: the change enables the service, so its triggers are stored (spec 5.2.1). */
function merge(
  stored: NotificationServiceConfig,
  sent: NotificationServiceConfig,
  isEnabled: boolean,
): NotificationServiceConfig {
  const before = stored.triggers ? toDotted(stored.triggers) : defaultTriggers.notification
  const triggers =
    isEnabled || sent.triggers ? toGrouped({ ...before, ...toDotted(sent.triggers ?? {}) }) : stored.triggers
  const delayConfig = sent.delayConfig
    ? { ...stored.delayConfig, ...delayOf(sent.delayConfig) }
    : stored.delayConfig
  const batchConfig = { ...stored.batchConfig }
  for (const kind of ['document', 'user'] as const) {
    const batch = sent.batchConfig?.[kind]
    if (batch) batchConfig[kind] = { ...batchConfig[kind], ...batchOf(batch) }
  }
  return withoutNulls({
    triggers,
    delayConfig,
    batchConfig: Object.keys(batchConfig).length > 0 ? batchConfig : undefined,
  })
}

type Delay = NonNullable<NotificationServiceConfig['delayConfig']>
type Batch = NonNullable<NonNullable<NotificationServiceConfig['batchConfig']>['user']>

/** Unknown keys are ignored (spec 0.1.3). */
const delayOf = ({ isEnabled, delaySeconds }: Delay): Delay => withoutNulls({ isEnabled, delaySeconds })
const batchOf = ({ isEnabled, batchWindowSeconds, maxActivities }: Batch): Batch =>
  withoutNulls({ isEnabled, batchWindowSeconds, maxActivities })
