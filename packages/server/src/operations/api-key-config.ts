import { ApiError, operations, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import * as apiKeys from '../store/api-keys.ts'

const planOf = { testing: 'sdk test', production: 'sdk production' }

const knownFields = new Set(Object.keys(operations.apiKeyConfig.update.input.properties))

export const apiKeyConfigHandlers: Handlers<Operations['apiKeyConfig']> = {
  async get({ caller: { ownerEmail, type, options } }) {
    return {
      ownerEmail,
      planInfo: { type: planOf[type] },
      defaultDocumentAccessType: options.defaultDocumentAccessType,
      isPrivateCommentsEnabled: options.enablePrivateComments,
      requireJwtToken: options.requireJwtToken,
      requireAutoOrgUser: options.requireAutoOrgUser,
      useAdvancedQueries: options.useAdvancedQueries,
      useNotificationService: options.useNotificationService,
    }
  },

  async update({ input, caller: { apiKey }, db, afterCommit, services: { credentials } }) {
    const sent = Object.entries(input)
    if (sent.length === 0 || !sent.every(([key]) => knownFields.has(key))) {
      throw new ApiError('INVALID_ARGUMENT', 'At least one field must be provided for update')
    }
    // The options in `caller` were read before this transaction and may be outdated.
    const stored = (await apiKeys.find(db, apiKey))?.key.options
    if (!stored) throw new ApiError('PERMISSION_DENIED', 'Invalid API key.')
    if (sent.some(([key, value]) => stored[key as keyof typeof input] !== value)) {
      await apiKeys.setOptions(db, apiKey, { ...stored, ...input })
      afterCommit(() => credentials.drop(apiKey))
    }
    return input
  },
}
