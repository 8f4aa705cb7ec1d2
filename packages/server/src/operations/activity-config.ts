import {
  type ActivityServiceConfig,
  type ActivityServiceConfigInput,
  ApiError,
  defaultTriggers,
  type Operations,
  toDotted,
  toGrouped,
} from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import * as activityConfig from '../store/activities/config.ts'
import { withoutNulls } from './shared/without-nulls.ts'

export const activityConfigHandlers: Handlers<Operations['activityConfig']> = {
  async get({ caller: { apiKey }, db }) {
    return { activityServiceConfig: await activityConfig.find(db, apiKey) }
  },

  async update({ input: { activityServiceConfig: sent }, caller: { apiKey }, db, now }) {
    const { isEnabled, immutable, enabledTime, triggers } = sent
    const known = withoutNulls({ isEnabled, immutable, enabledTime, triggers })
    if (Object.keys(known).length === 0) {
      throw new ApiError('INVALID_ARGUMENT', 'At least one field must be provided for update')
    }
    const config = merge(await activityConfig.find(db, apiKey), known, now)
    await activityConfig.save(db, apiKey, config)
    return { activityServiceConfig: config }
  },
}

/** The settings after a change. Enabling the log stores the defaults of settings that were never sent (spec 6.2.1). */
function merge(
  stored: ActivityServiceConfig,
  sent: ActivityServiceConfigInput,
  now: number,
): ActivityServiceConfig {
  const { isEnabled = stored.isEnabled } = sent
  const defaults = isEnabled ? { immutable: true, enabledTime: now } : {}
  const triggers = {
    ...(isEnabled && defaultTriggers.activity),
    ...toDotted(stored.triggers ?? {}),
    ...toDotted(sent.triggers ?? {}),
  }
  return {
    ...defaults,
    ...stored,
    ...sent,
    isEnabled,
    ...(Object.keys(triggers).length > 0 && { triggers: toGrouped(triggers) }),
  }
}
