import {
  ApiError,
  defaultTriggers,
  type Input,
  type Operations,
  toDotted,
  type WebhookConfig,
} from '@plenum/protocol'
import { changedCredential, mask, type ServiceSettings } from '../../access/credentials/service-settings.ts'
import { readPublicKey } from '../../deliveries/webhooks/public-keys.ts'
import { isOutgoingUrl, namesThisMachine } from '../../platform/outgoing/outgoing-urls.ts'
import type { BasicWebhookSettings } from '../../store/webhooks/settings.ts'
import { withoutUndefined } from './without-nulls.ts'

type Change = Input<Operations['webhookConfig']['update']>

export type WebhookSettings = ServiceSettings<BasicWebhookSettings>

export const noWebhookSettings: WebhookSettings = { enabled: false, config: {}, credential: '' }

interface ChangeOptions {
  /** Whether the server may call the URL (spec N1.3). */
  isWebhookUrl: (url: string) => boolean
  /** Whether the default triggers are added to those that the caller sent. Default: only if the caller sent none. */
  defaults?: boolean
}

/**
 * Returns the settings after a change. Throws if they are invalid. Turning the service on for the first time without
 * triggers enables the default triggers (spec 24.11.1).
 */
export function changeWebhook(
  stored: WebhookSettings,
  change: Change,
  { isWebhookUrl, defaults }: ChangeOptions,
): WebhookSettings {
  const { useWebhookService, webhookServiceConfig: sent = {} } = change
  const enabled = useWebhookService ?? stored.enabled
  const starts = enabled && stored.config.triggers === undefined
  const seeded = starts && (defaults ?? sent.triggers === undefined) ? defaultTriggers.webhook : undefined
  const triggers =
    seeded || sent.triggers
      ? { ...seeded, ...stored.config.triggers, ...toDotted(sent.triggers ?? {}) }
      : undefined
  const { encodeData, encryptData, publicKey, enableDataProtection } = sent
  const config = {
    ...(starts && { enableDataProtection: false }),
    ...stored.config,
    ...withoutUndefined({
      rawNotificationUrl: sent.rawNotificationUrl?.trim(),
      processedNotificationUrl: sent.processedNotificationUrl?.trim(),
      encodeData,
      encryptData,
      publicKey: publicKey?.trim(),
      enableDataProtection,
      triggers,
    }),
  }
  const sentUrls = [sent.rawNotificationUrl, sent.processedNotificationUrl].map((url) => url?.trim())
  const refusedUrl = sentUrls.find((url) => url && !isWebhookUrl(url))
  const reason = refusedUrl ? refusedUrlReason(refusedUrl) : publicKeyFault(config)
  if (reason !== undefined) {
    throw new ApiError('INVALID_ARGUMENT', 'Invalid webhook service configuration.', { details: { reason } })
  }
  return { enabled, config, credential: changedCredential(stored.credential, sent.authToken) }
}

/** Why the server does not call a URL (spec N1.3). */
export function refusedUrlReason(url: string): string {
  if (!isOutgoingUrl(url))
    return 'The URL must begin with http:// or https://, without a user name and a password, and with a port for HTTP.'
  const permit = 'The operator of the server can permit it with the setting WEBHOOK_ALLOW_CIDR.'
  return namesThisMachine(url)
    ? `localhost is not a public address. Write the IP address, such as 127.0.0.1. ${permit}`
    : `The address in the URL is not public. ${permit}`
}

/** What is wrong with the key that encrypts payloads. */
export function publicKeyFault({
  encryptData,
  publicKey,
}: {
  encryptData?: boolean | undefined
  publicKey?: string | undefined
}): string | undefined {
  if (publicKey && !readPublicKey(publicKey)) return 'publicKey must be an RSA public key in Base64.'
  return encryptData && !publicKey ? 'encryptData requires publicKey.' : undefined
}

/** The settings as callers read them. */
export function presentWebhook({ enabled, config, credential }: WebhookSettings): WebhookConfig {
  return {
    useWebhookService: enabled,
    webhookServiceConfig: {
      authToken: mask(credential),
      rawNotificationUrl: '',
      processedNotificationUrl: '',
      ...config,
    },
  }
}
