import {
  ApiError,
  type EventName,
  findEvent,
  type Input,
  type Operations,
  type WebhookEndpoint,
  webhookErrors,
} from '@plenum/protocol'
import { newEndpointSecret, rotated, signingSecrets } from '../../access/credentials/endpoint-secrets.ts'
import { newId } from '../../access/ids.ts'
import type { Call, Handlers } from '../../calls/call.ts'
import { limitData, stringifyData } from '../../store/engine/json.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import type { Endpoint, EndpointFields } from '../../store/webhooks/endpoints.ts'
import { unique } from '../shared/batches.ts'
import { refusedUrlReason } from '../shared/webhook-settings.ts'
import { withoutUndefined } from '../shared/without-nulls.ts'
import { refusal, requireAdvancedWebhooks } from './advanced-webhook-config.ts'

/** An event is compared with all endpoints of its API key, and delivered to each that matches. */
const maxEndpoints = 50

type Family = Operations['webhookEndpoints']

export const webhookEndpointHandlers: Handlers<Family> = {
  async create({ input, caller: { apiKey }, db, now, services }) {
    await requireAdvancedWebhooks(db, apiKey)
    const { url, ...fields } = sentFields(input, services.isWebhookUrl)
    const { uid = null } = input
    // Concurrent calls must not exceed the maximum together.
    await services.lock(db, `webhook-endpoints/${apiKey}`)
    if (uid !== null && (await endpoints.hasUid(db, apiKey, uid))) {
      throw new ApiError('ALREADY_EXISTS', 'An endpoint with this uid already exists.')
    }
    if ((await endpoints.count(db, apiKey)) >= maxEndpoints) {
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        `The API key has reached its maximum of ${maxEndpoints} webhook endpoints.`,
      )
    }
    const endpointId = newId('ep')
    const { sealed: secret } = newEndpointSecret(services.secrets, apiKey, endpointId)
    await endpoints.add(db, apiKey, { ...none, ...fields, url: url ?? '', endpointId, uid, secret }, now)
    return present(await found(db, apiKey, endpointId))
  },

  async get({ input: { limit, iterator }, caller: { apiKey }, db, pages }) {
    await requireAdvancedWebhooks(db, apiKey)
    const wanted = pages.requested(withoutUndefined({ pageSize: limit, pageToken: iterator }), 50)
    const rows = await endpoints.list(db, apiKey, { limit: wanted.size + 1, after: wanted.after })
    const { items, nextPageToken } = pages.withNextToken(rows, wanted, ({ createdAt, endpointId }) => [
      createdAt,
      endpointId,
    ])
    return {
      endpoints: items.map(present),
      iterator: nextPageToken ?? null,
      prevIterator: null,
      done: nextPageToken === undefined,
    }
  },

  async update({ input, caller: { apiKey }, db, now, services }) {
    await requireAdvancedWebhooks(db, apiKey)
    const fields = sentFields(input, services.isWebhookUrl)
    if (Object.keys(fields).length === 0) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        'At least one endpoint field besides endpointId must be provided.',
      )
    }
    if (!(await endpoints.update(db, apiKey, input.endpointId, fields, now)))
      throw refusal(webhookErrors.unknownEndpoint)
    return present(await found(db, apiKey, input.endpointId))
  },

  async delete({ input: { endpointId }, caller: { apiKey }, db }) {
    await requireAdvancedWebhooks(db, apiKey)
    if (!(await endpoints.remove(db, apiKey, endpointId))) throw refusal(webhookErrors.unknownEndpoint)
    return { endpointId, deleted: true }
  },

  async getSecret({ input: { endpointId }, caller: { apiKey }, db, now, services: { secrets } }) {
    await requireAdvancedWebhooks(db, apiKey)
    const endpoint = await found(db, apiKey, endpointId)
    const [secret = ''] = signingSecrets(secrets, apiKey, endpoint, now)
    return { endpointId, secret }
  },

  async rotateSecret({ input: { endpointId }, caller: { apiKey }, db, now, services: { secrets } }) {
    await requireAdvancedWebhooks(db, apiKey)
    const endpoint = await found(db, apiKey, endpointId)
    const { secret, sealed } = newEndpointSecret(secrets, apiKey, endpointId)
    await endpoints.setSecrets(db, apiKey, endpointId, rotated(endpoint, sealed, now), now)
    return { endpointId, secret }
  },
}

/** The fields of a new endpoint that the caller does not send. */
const none = {
  description: null,
  filterTypes: null,
  channels: null,
  disabled: false,
  rateLimit: null,
  metadata: null,
}

/** The fields that the caller sent, as they are stored. Throws if one is invalid. */
function sentFields(
  input: Partial<Input<Family['update']>>,
  isWebhookUrl: (url: string) => boolean,
): Partial<EndpointFields> {
  const { description, filterTypes, channels, disabled, rateLimit, metadata } = input
  const url = input.url?.trim()
  if (url !== undefined && !isWebhookUrl(url)) {
    const details = { reason: refusedUrlReason(url) }
    throw new ApiError('INVALID_ARGUMENT', 'url must be a valid http(s) URL.', { details })
  }
  if (channels) limitData([JSON.stringify(channels)], 'the endpoint')
  return withoutUndefined({
    url,
    description,
    filterTypes: filterTypes && [...new Set(filterTypes.map((name) => findEvent(name) as EventName))],
    channels: channels && unique(channels),
    disabled,
    rateLimit,
    metadata: metadata && stringifyData(metadata, 'the endpoint'),
  })
}

async function found(db: Call['db'], apiKey: string, endpointId: string): Promise<Endpoint> {
  const endpoint = await endpoints.find(db, apiKey, endpointId)
  if (!endpoint) throw refusal(webhookErrors.unknownEndpoint)
  return endpoint
}

const present = (endpoint: Endpoint): WebhookEndpoint => ({
  id: endpoint.endpointId,
  url: endpoint.url,
  description: endpoint.description,
  filterTypes: endpoint.filterTypes && [...endpoint.filterTypes],
  channels: endpoint.channels && [...endpoint.channels],
  disabled: endpoint.disabled,
  ...(endpoint.disabledReason !== null && { disabledReason: endpoint.disabledReason }),
  rateLimit: endpoint.rateLimit,
  uid: endpoint.uid,
  createdAt: new Date(endpoint.createdAt).toISOString(),
  updatedAt: new Date(endpoint.updatedAt).toISOString(),
})
