import { ApiError, type Operations, type PermissionProviderConfig } from '@plenum/protocol'
import { changedCredential, mask } from '../access/credentials/service-settings.ts'
import {
  type ProviderSettings,
  readProviderSettings,
  writeProviderSettings,
} from '../access/provider/provider-settings.ts'
import type { Handlers } from '../calls/call.ts'
import { isOutgoingUrl } from '../platform/outgoing/outgoing-urls.ts'

export const permissionProviderConfigHandlers: Handlers<Operations['permissionProviderConfig']> = {
  async get({ caller: { apiKey }, db, services: { secrets } }) {
    return present(await readProviderSettings(db, secrets, apiKey))
  },

  async update({ input, caller: { apiKey }, db, afterCommit, services: { secrets, credentials } }) {
    const { usePermissionProvider, permissionProviderConfig: sent } = input
    if (usePermissionProvider === undefined && sent === undefined) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one of usePermissionProvider or permissionProviderConfig must be provided',
      )
    }
    const stored = await readProviderSettings(db, secrets, apiKey)
    const permissionProviderUrl = sent?.permissionProviderUrl?.trim() ?? stored.config.permissionProviderUrl
    if (permissionProviderUrl !== '' && !isOutgoingUrl(permissionProviderUrl)) {
      throw new ApiError('INVALID_ARGUMENT', 'Please enter a valid URL')
    }
    const settings = {
      enabled: usePermissionProvider ?? stored.enabled,
      config: { ...stored.config, permissionProviderUrl },
      credential: changedCredential(stored.credential, sent?.authToken),
    }
    await writeProviderSettings(db, secrets, apiKey, settings)
    afterCommit(() => credentials.drop(apiKey))
    return present(settings)
  },
}

const present = ({ enabled, config, credential }: ProviderSettings): PermissionProviderConfig => ({
  usePermissionProvider: enabled,
  permissionProviderConfig: {
    permissionProviderUrl: config.permissionProviderUrl,
    authToken: mask(credential),
  },
})
