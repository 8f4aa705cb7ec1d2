// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'
import type { WebhookServiceConfigInput } from './api-keys.ts'
import type { TriggersOutput } from './email-config.ts'

export interface WebhookConfig {
  /** Whether the URLs of the webhook service are called. */
  useWebhookService: boolean
  /** Settings of the webhook service. */
  webhookServiceConfig: WebhookServiceConfig
}

export interface WebhookServiceConfig {
  /** Secret that the receiver of the webhook checks, masked. Empty if none is set. */
  authToken: string
  /** URL that receives each event as it happened. Empty: none. */
  rawNotificationUrl: string
  /** URL that receives each event with what the server found out about its recipients. Empty: none. */
  processedNotificationUrl: string
  /** Whether the payload is Base64-encoded. Default: false. */
  encodeData?: boolean
  /** Whether the payload is encrypted with `publicKey`. Takes precedence over `encodeData`. */
  encryptData?: boolean
  /**
   * RSA public key that encrypts payloads: Base64 without the lines `BEGIN` and `END`. 2048 bits are
   * recommended. An empty string removes it. At most 10,000 characters.
   */
  publicKey?: string
  /** Whether the payload leaves out the texts of comments and the names and email addresses of users. */
  enableDataProtection?: boolean
  /** The events that the webhook service acts on, by name. */
  triggers?: TriggersOutput
}

export type WebhookConfigGetInput = NoInput

export interface WebhookConfigUpdateInput {
  /** Whether the URLs of the webhook service are called. */
  useWebhookService?: boolean
  /** Settings of the webhook service. */
  webhookServiceConfig?: WebhookServiceConfigInput
}

/** Two URLs of yours that the server calls when something happens. */
export interface WebhookConfigOperations {
  /**
   * Reads the webhook settings of the API key. The auth token is masked. Further settings are present once
   * they were set.
   *
   * `POST /v2/workspace/webhookconfig/get`
   */
  get(input?: WebhookConfigGetInput, options?: CallOptions): Promise<Result<WebhookConfig>>
  /**
   * Changes the webhook settings of the API key. Sent fields are merged into the stored ones. The first call
   * that enables the service enables the default triggers, unless this or an earlier call sends `triggers`:
   * then only the triggers that were sent as true are on. The auth token is stored encrypted. Sending back
   * the masked token keeps the stored token, and an empty string removes it.
   *
   * `POST /v2/workspace/webhookconfig/update`
   */
  update(input?: WebhookConfigUpdateInput, options?: CallOptions): Promise<Result<WebhookConfig>>
}
