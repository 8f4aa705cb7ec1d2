// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'

export interface PermissionProviderConfig {
  /**
   * Whether the permission provider decides who may open documents. Then grants and access types do not
   * apply.
   */
  usePermissionProvider: boolean
  /** Where the permission provider is. */
  permissionProviderConfig: PermissionProviderSettings
}

export interface PermissionProviderConfigInput {
  /**
   * Whether the permission provider decides who may open documents. Then grants and access types do not
   * apply.
   */
  usePermissionProvider?: boolean
  /** Where the permission provider is. Fields that are not sent keep their value. */
  permissionProviderConfig?: PermissionProviderSettingsInput
}

export interface PermissionProviderSettings {
  /**
   * URL that the server asks with POST, over http or https. Empty: none, and every user is denied while the
   * provider is on.
   */
  permissionProviderUrl: string
  /** Token that the server sends to the provider, masked. Empty if none is set. */
  authToken: string
}

export interface PermissionProviderSettingsInput {
  /**
   * URL that the server asks with POST, over http or https. Empty: none, and every user is denied while the
   * provider is on. At most 2,000 characters.
   */
  permissionProviderUrl?: string
  /**
   * Token that the server sends to the provider, as `Authorization: Bearer …`. An empty string removes it. At
   * most 1,000 characters. Must have visible ASCII characters only.
   */
  authToken?: string
}

export type PermissionProviderConfigGetInput = NoInput

export type PermissionProviderConfigUpdateInput = PermissionProviderConfigInput

/** An HTTP endpoint of yours that decides who may open documents. */
export interface PermissionProviderConfigOperations {
  /**
   * Reads the settings of the permission provider of the API key. The auth token of the provider is masked.
   *
   * `POST /v2/workspace/permissionproviderconfig/get`
   */
  get(input?: PermissionProviderConfigGetInput, options?: CallOptions): Promise<Result<PermissionProviderConfig>>
  /**
   * Changes the settings of the permission provider of the API key. A permission provider is an HTTP endpoint
   * of yours. While it is on, the server asks it who may open a document, and ignores grants and access
   * types. Sent fields are merged into the stored ones. The auth token is stored encrypted. Sending back the
   * masked token keeps the stored token, and an empty string removes it. A change applies to open connections
   * immediately, and drops the answers that the server remembers.
   *
   * `POST /v2/workspace/permissionproviderconfig/update`
   */
  update(input?: PermissionProviderConfigUpdateInput, options?: CallOptions): Promise<Result<PermissionProviderConfig>>
}
