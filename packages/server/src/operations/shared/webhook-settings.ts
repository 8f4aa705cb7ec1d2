import {
  ApiError,
  defaultTriggers,
  type Input,
  type Operations,
  toDotted,
  type Triggers,
} from '@plenum/protocol'
import type { ServiceSettings } from '../../access/credentials/service-settings.ts'
import { isHttpUrl } from './urls.ts'

type Created = Input<Operations['apiKeys']['create']>

interface StoredConfig {
  rawNotificationUrl?: string
  processedNotificationUrl?: string
  encodeData?: boolean
  encryptData?: boolean
  publicKey?: string
  enableDataProtection?: boolean
  triggers?: Triggers
}

/**
 * The webhook settings of a new API key. Throws if they are invalid. Turning the service on enables the default triggers
 * (spec 24.4).
 */
export function firstWebhookSettings(enabled: boolean, sent: Created['webhookServiceConfig'] = {}) {
  const { rawNotificationUrl, processedNotificationUrl, encodeData, encryptData, publicKey } = sent
  const urls = [rawNotificationUrl, processedNotificationUrl]
  if (!urls.every((url) => !url || isHttpUrl(url)) || (encryptData && !publicKey)) {
    throw new ApiError('INVALID_ARGUMENT', 'Invalid webhook service configuration.')
  }
  const fields = {
    rawNotificationUrl,
    processedNotificationUrl,
    encodeData,
    encryptData,
    publicKey,
    enableDataProtection: sent.enableDataProtection ?? (enabled ? false : undefined),
    triggers: enabled
      ? { ...defaultTriggers.webhook, ...toDotted(sent.triggers ?? {}) }
      : sent.triggers && toDotted(sent.triggers),
  }
  const settings: ServiceSettings<StoredConfig> = {
    enabled,
    config: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    credential: sent.authToken ?? '',
  }
  return settings
}
