import { ApiError, operations, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import { changeOptions } from './shared/api-key-options.ts'

const planOf = { testing: 'sdk test', production: 'sdk production' }

const knownFields = new Set(Object.keys(operations.apiKeyConfig.update.input.properties))

export const apiKeyConfigHandlers: Handlers<Operations['apiKeyConfig']> = {
  async get({ caller: { ownerEmail, type, options } }) {
    return {
      ownerEmail,
      planInfo: { type: planOf[type] },
      defaultDocumentAccessType: options.defaultDocumentAccessType,
      documentCreation: options.documentCreation,
      isPrivateCommentsEnabled: options.enablePrivateComments,
      requireJwtToken: options.requireJwtToken,
      requireAutoOrgUser: options.requireAutoOrgUser,
      useAdvancedQueries: options.useAdvancedQueries,
      useNotificationService: options.useNotificationService,
    }
  },

  async update(call) {
    const { input } = call
    const sent = Object.entries(input)
    if (sent.length === 0 || !sent.every(([key]) => knownFields.has(key))) {
      throw new ApiError('INVALID_ARGUMENT', 'At least one field must be provided for update')
    }
    await changeOptions(call, input)
    return input
  },
}
