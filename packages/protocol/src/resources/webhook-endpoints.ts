import Type, { type TSchema } from 'typebox'
import { type EventName, eventNames, type GroupedName, groupedNames } from '../base/events.ts'
import { shortText } from '../base/fields.ts'
import { ChosenId } from '../base/ids.ts'
import { choice, described, flag, mapOf, text } from '../base/schemas.ts'
import { webhookBodyFields } from './service-configs.ts'

export const AdvancedWebhookConfig = Type.Object({
  isEnabled: flag('Whether events are sent to the endpoints.'),
  ...webhookBodyFields,
})
export type AdvancedWebhookConfig = Type.Static<typeof AdvancedWebhookConfig>

export const AdvancedWebhookConfigInput = Type.Partial(AdvancedWebhookConfig, {
  'x-conditions': { minProperties: 1 },
})

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
const optionalOrNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(orNull(schema, `${description} \`null\` is the same as none.`))

export const EndpointId = described(ChosenId, 'Id of the endpoint.')

const fields = {
  url: 'URL that receives the events, over http or https.',
  description: 'Note about the endpoint.',
  filterTypes: 'Names of the events that the endpoint receives. None: all events.',
  channels: 'Ids of the organizations whose events the endpoint receives. None: all organizations.',
  disabled: 'Whether the endpoint receives nothing.',
  rateLimit: 'Maximum number of deliveries per second. None: no limit. Further ones wait.',
  uid: 'Id of your own for the endpoint, unique under the API key. It cannot be changed.',
}

/** An event by its dotted or grouped name (spec 24.3). */
const AnyEventName = Type.Unsafe<EventName | GroupedName>(
  choice([...new Set([...eventNames, ...Object.values(groupedNames).filter((name) => name !== null)])]),
)

const maxFilters = 100

/** The fields of an endpoint that can be changed. */
export const webhookEndpointFields = {
  description: optionalOrNull(shortText(fields.description), fields.description),
  filterTypes: optionalOrNull(
    Type.Array(AnyEventName, { minItems: 1, maxItems: maxFilters }),
    fields.filterTypes,
  ),
  channels: optionalOrNull(Type.Array(ChosenId, { minItems: 1, maxItems: maxFilters }), fields.channels),
  disabled: Type.Optional(flag(`${fields.disabled} Default: false.`)),
  rateLimit: optionalOrNull(Type.Integer({ minimum: 1, maximum: 10_000 }), fields.rateLimit),
  metadata: optionalOrNull(
    mapOf(Type.String({ maxLength: 1000 })),
    'Texts of your own, by name. They are stored, but not returned.',
  ),
}
export const WebhookUrl = Type.String({ minLength: 1, maxLength: 2000, description: fields.url })
export const EndpointUid = optionalOrNull(ChosenId, fields.uid)

export const WebhookEndpoint = Type.Object({
  id: described(ChosenId, 'Id of the endpoint.'),
  url: text(fields.url),
  description: orNull(Type.String(), fields.description),
  filterTypes: orNull(Type.Array(Type.String()), fields.filterTypes),
  channels: orNull(Type.Array(Type.String()), fields.channels),
  disabled: flag(fields.disabled),
  disabledReason: Type.Optional(text('Why the server disabled the endpoint. Absent if it did not.')),
  rateLimit: orNull(Type.Integer(), fields.rateLimit),
  uid: orNull(Type.String(), fields.uid),
  createdAt: text('Time of creation, in ISO 8601.'),
  updatedAt: text('Time of the last change, in ISO 8601.'),
})
export type WebhookEndpoint = Type.Static<typeof WebhookEndpoint>

export const WebhookEndpointRef = Type.Object({ endpointId: EndpointId })

export const EndpointSecret = Type.Object({
  endpointId: EndpointId,
  secret: text('The secret that signs deliveries to the endpoint: `whsec_` and Base64.'),
})
