// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'

export interface AdvancedWebhookConfig {
  /** Whether events are sent to the endpoints. */
  isEnabled: boolean
  /** Whether the payload is Base64-encoded. Default: false. */
  encodeData: boolean
  /** Whether the payload is encrypted with `publicKey`. Takes precedence over `encodeData`. */
  encryptData: boolean
  /**
   * RSA public key that encrypts payloads: Base64 without the lines `BEGIN` and `END`. 2048 bits are
   * recommended. An empty string removes it. At most 10,000 characters.
   */
  publicKey: string
  /** Whether the payload leaves out the texts of comments and the names and email addresses of users. */
  enableDataProtection: boolean
}

export interface AdvancedWebhookConfigInput {
  /** Whether events are sent to the endpoints. */
  isEnabled?: boolean
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
}

export type AdvancedWebhookConfigGetInput = NoInput

export type AdvancedWebhookConfigUpdateInput = AdvancedWebhookConfigInput

/** Whether events are sent to the webhook endpoints of an API key, and how. */
export interface AdvancedWebhookConfigOperations {
  /**
   * Reads the settings of the advanced webhooks of the API key.
   *
   * `POST /v2/workspace/advancedwebhookconfig/get`
   */
  get(input?: AdvancedWebhookConfigGetInput, options?: CallOptions): Promise<Result<AdvancedWebhookConfig>>
  /**
   * Changes the settings of the advanced webhooks of the API key. Sent fields replace the stored ones. The
   * first call must send `isEnabled: true`.
   *
   * `POST /v2/workspace/advancedwebhookconfig/update`
   */
  update(input?: AdvancedWebhookConfigUpdateInput, options?: CallOptions): Promise<Result<AdvancedWebhookConfig>>
}
