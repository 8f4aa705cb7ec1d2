import {
  type AdvancedWebhookConfig,
  ApiError,
  type ErrorExample,
  type Operations,
  webhookErrors,
} from '@plenum/protocol'
import type { Handlers } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import * as serviceConfigs from '../../store/service-configs.ts'
import type { WebhookBodySettings } from '../../store/webhooks/settings.ts'
import { publicKeyFault } from '../shared/webhook-settings.ts'
import { withoutUndefined } from '../shared/without-nulls.ts'

export const advancedWebhookConfigHandlers: Handlers<Operations['advancedWebhookConfig']> = {
  async get({ caller: { apiKey }, db }) {
    const stored = await find(db, apiKey)
    return present(stored?.enabled ?? false, stored?.config ?? {})
  },

  async update({ input, caller: { apiKey }, db, signal }) {
    const { isEnabled, encodeData, encryptData, publicKey, enableDataProtection } = input
    const sent = withoutUndefined({
      encodeData,
      encryptData,
      publicKey: publicKey?.trim(),
      enableDataProtection,
    })
    if (isEnabled === undefined && Object.keys(sent).length === 0) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
      )
    }
    const stored = await find(db, apiKey)
    if (!stored && isEnabled !== true) throw refusal(webhookErrors.notConfigured)
    const config = { ...stored?.config, ...sent }
    const fault = publicKeyFault(config)
    if (fault !== undefined) throw new ApiError('INVALID_ARGUMENT', fault)
    const enabled = isEnabled ?? stored?.enabled ?? false
    await serviceConfigs.save(db, apiKey, 'advancedWebhook', { enabled, config, secret: null })
    signal({ kind: 'webhooks' })
    return present(enabled, config)
  },
}

/** Throws unless the advanced webhooks of the API key are on. */
export async function requireAdvancedWebhooks(db: Db, apiKey: string): Promise<void> {
  const stored = await find(db, apiKey)
  if (!stored) throw refusal(webhookErrors.notConfigured)
  if (!stored.enabled) throw refusal(webhookErrors.notEnabled)
}

const find = (db: Db, apiKey: string) =>
  serviceConfigs.find<WebhookBodySettings>(db, apiKey, 'advancedWebhook')

export const refusal = ({ status, message }: ErrorExample) => new ApiError(status, message)

const present = (isEnabled: boolean, config: WebhookBodySettings): AdvancedWebhookConfig => ({
  isEnabled,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
  ...config,
})
