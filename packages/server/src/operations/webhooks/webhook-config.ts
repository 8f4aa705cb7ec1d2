import { ApiError, type Operations } from '@plenum/protocol'
import { readSettings, writeSettings } from '../../access/credentials/service-settings.ts'
import type { Handlers } from '../../calls/call.ts'
import {
  changeWebhook,
  noWebhookSettings,
  presentWebhook,
  type WebhookSettings,
} from '../shared/webhook-settings.ts'

export const webhookConfigHandlers: Handlers<Operations['webhookConfig']> = {
  async get({ caller: { apiKey }, db, services: { secrets } }) {
    const stored: WebhookSettings | undefined = await readSettings(db, secrets, apiKey, 'webhook')
    return presentWebhook(stored ?? noWebhookSettings)
  },

  async update({ input, caller: { apiKey }, db, signal, services: { secrets, isWebhookUrl } }) {
    if (input.useWebhookService === undefined && input.webhookServiceConfig === undefined) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one of useWebhookService or webhookServiceConfig must be provided',
      )
    }
    const stored: WebhookSettings | undefined = await readSettings(db, secrets, apiKey, 'webhook')
    const settings = changeWebhook(stored ?? noWebhookSettings, input, { isWebhookUrl })
    await writeSettings(db, secrets, apiKey, 'webhook', settings)
    signal({ kind: 'webhooks' })
    return presentWebhook(settings)
  },
}
