import { ApiError, maxChannels, type NotificationPreferences, type Operations } from '@plenum/protocol'
import type { Handlers } from '../../calls/call.ts'
import * as configs from '../../store/notifications/configs.ts'
import { actingUserId, denied } from '../shared/calling-user.ts'
import { unique } from '../shared/batches.ts'
import { requireOpen } from './open-organization.ts'

const maxChannelLength = 100

export const notificationConfigHandlers: Handlers<
  Pick<Operations['notifications'], 'getConfig' | 'setConfig'>
> = {
  async getConfig(call) {
    const {
      input,
      caller: { apiKey, user },
      db,
    } = call
    const { organizationId } = input
    const userId = actingUserId(user, input.userId)
    const ofOrganization = input.getOrganizationConfig === true
    const documentIds = ofOrganization ? [] : unique(required(input.documentIds))
    await requireOpen(call, organizationId, documentIds)
    const choices = await configs.find(db, apiKey, organizationId, documentIds, [userId])
    const entry = (documentId?: string) => ({
      config: choices.effective(userId, documentId),
      // The entry of the organization belongs to no document, but the interface requires a string.
      metadata: { organizationId, apiKey, documentId: documentId ?? '', userId },
    })
    return ofOrganization ? [entry()] : documentIds.map((documentId) => entry(documentId))
  },

  async setConfig(call) {
    const {
      input,
      caller: { apiKey, user },
      db,
      version,
    } = call
    const userIds = unique(input.userIds)
    if (user && userIds.some((id) => id !== user.userId)) {
      throw denied('userIds must be the user of the token.')
    }
    const sent = version === 'v1' ? required(input.documentIds) : input.documentIds
    const documentIds = sent && unique(sent)
    checkChannels(input.config)
    await requireOpen(call, input.organizationId, documentIds)
    const channels = await configs.put(
      db,
      apiKey,
      input.organizationId,
      { userIds, documentIds },
      input.config,
    )
    if (channels > maxChannels) throw tooManyChannels()
    const [documentId] = documentIds ?? []
    const where = {
      ...(documentId !== undefined && { documentId }),
      ...(documentIds && documentIds.length > 1 && { documentIds }),
    }
    const message = 'User config set successfully.'
    return Object.fromEntries(userIds.map((userId) => [userId, { success: true, userId, ...where, message }]))
  },
}

function required(documentIds: string[] | undefined): string[] {
  if (documentIds === undefined) throw new ApiError('INVALID_ARGUMENT', 'documentIds is required.')
  if (documentIds.length === 0) throw new ApiError('INVALID_ARGUMENT', 'documentIds must not be empty.')
  return documentIds
}

function checkChannels(config: NotificationPreferences): void {
  const channels = Object.keys(config)
  if (channels.length === 0) throw new ApiError('INVALID_ARGUMENT', 'config must not be empty.')
  if (channels.length > maxChannels) throw tooManyChannels()
  if (channels.some((channel) => channel.trim() === '' || channel.length > maxChannelLength)) {
    throw new ApiError(
      'INVALID_ARGUMENT',
      `The name of a channel must have 1 to ${maxChannelLength} characters.`,
    )
  }
}

const tooManyChannels = () =>
  new ApiError('INVALID_ARGUMENT', `config must have at most ${maxChannels} channels.`)
