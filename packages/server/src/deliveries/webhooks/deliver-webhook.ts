import { signingSecrets } from '../../access/credentials/endpoint-secrets.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import { readSettings } from '../../access/credentials/service-settings.ts'
import type { Clock } from '../../platform/clock.ts'
import type { OutgoingPost } from '../../platform/outgoing/outgoing-post.ts'
import type { StoredWebhook } from '../../events/webhook-event.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { Delivery } from '../../store/deliveries/deliveries.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import type { BasicWebhookSettings, WebhookBodySettings } from '../../store/webhooks/settings.ts'
import { type Cancelled, cancelled, type Outcome } from '../outcome.ts'
import { withDataProtection } from './data-protection.ts'
import type { BasicTarget } from './dispatch.ts'
import { exhaustedPayload, isExhausted } from './exhausted.ts'
import { advancedPayload, basicPayload } from './payloads.ts'
import { readWebhookData, type WebhookDataDeps } from './read-webhook-data.ts'
import { sealBody } from './seal-body.ts'
import { SendRates } from './send-rates.ts'
import { sendWebhook } from './send-webhook.ts'
import { signedHeaders } from './signatures.ts'
import { eventOf } from './stored-webhook.ts'

interface DeliverWebhookDeps extends WebhookDataDeps {
  database: Database
  secrets: Secrets
  post: OutgoingPost
  clock: Clock
  /** How many servers deliver webhooks. */
  serverCount: () => number
}

/** Creates the function that makes one attempt to send a webhook, with the settings that apply then and what is stored then. */
export function createDeliverWebhook(deps: DeliverWebhookDeps) {
  const { database, secrets, post, clock, serverCount } = deps
  const { read } = database
  const rates = new SendRates(clock)

  const readData = async ({ apiKey, data }: Delivery, options: { findsDenied: boolean }) => {
    const found = await apiKeys.find(read, apiKey)
    // Its deletion removes the delivery too.
    if (!found) throw new Error('The API key was deleted.')
    return readWebhookData(deps, found.key, eventOf(data as StoredWebhook), options)
  }

  const toEndpoint = async (delivery: Delivery, signal: AbortSignal): Promise<Outcome | Cancelled> => {
    const { apiKey, messageId: id, target, data } = delivery
    const settings = await readSettings<WebhookBodySettings>(read, secrets, apiKey, 'advancedWebhook')
    if (!settings?.enabled) return cancelled('The advanced webhooks are off.')
    const endpoint = await endpoints.find(read, apiKey, target)
    if (!endpoint) return cancelled('The endpoint was deleted.')
    if (endpoint.disabled) return cancelled('The endpoint is disabled.')
    const { url, rateLimit } = endpoint
    // Each server takes an equal part, because any of them may have the next delivery.
    if (rateLimit !== null) await rates.wait(`${apiKey} ${target}`, rateLimit / serverCount(), signal)
    const payload = isExhausted(data)
      ? exhaustedPayload(data)
      : advancedPayload(await readData(delivery, { findsDenied: false }))
    const body = bodyOf(payload, settings.config)
    const signed = { id, now: clock.now(), body }
    const headers = signedHeaders(signed, signingSecrets(secrets, apiKey, endpoint, signed.now))
    const outcome = await sendWebhook({ post, signal }, { url, headers, body })
    if (outcome.kind !== 'refused') return outcome
    const { error } = outcome
    const disable = (db: Db) => endpoints.disable(db, apiKey, endpoint, error, clock.now())
    // If it has another URL by now, the next attempt goes there.
    return (await database.write(disable, apiKey)) ? outcome : { ...outcome, kind: 'failed' }
  }

  const toBasicUrl = async (delivery: Delivery, signal: AbortSignal): Promise<Outcome | Cancelled> => {
    const { apiKey, target } = delivery
    const settings = await readSettings<BasicWebhookSettings>(read, secrets, apiKey, 'webhook')
    if (!settings?.enabled) return cancelled('The webhooks are off.')
    const { config, credential } = settings
    const url = config[target as BasicTarget]
    if (!url) return cancelled('The URL was removed.')
    const kind = target === 'rawNotificationUrl' ? 'raw' : 'processed'
    const data = await readData(delivery, { findsDenied: kind === 'processed' })
    const body = bodyOf(basicPayload(data, kind), config)
    const headers: Record<string, string> = credential === '' ? {} : { authorization: `Basic ${credential}` }
    return sendWebhook({ post, signal }, { url, headers, body })
  }

  return (delivery: Delivery, signal: AbortSignal): Promise<Outcome | Cancelled> =>
    delivery.channel === 'webhook' ? toEndpoint(delivery, signal) : toBasicUrl(delivery, signal)
}

export type DeliverWebhook = ReturnType<typeof createDeliverWebhook>

const bodyOf = (payload: object, settings: WebhookBodySettings) =>
  sealBody(settings.enableDataProtection ? withDataProtection(payload) : payload, settings)
