import Type from 'typebox'
import {
  type AnyTriggers,
  type EventGroup,
  type EventName,
  eventNames,
  type GroupedName,
  groupedNames,
  splitGroupedName,
  type Triggers,
} from '../base/events.ts'
import { choice, closedObject, described, flag, text } from '../base/schemas.ts'

/** Text without line breaks, because it ends up in a mail or a header. */
const singleLine = (maxLength: number, description: string) =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    'x-invalid': 'must be one line.',
    description,
  })

type EventField = readonly [key: string, event: EventName]

/** One flag per event. `service` is the service in the descriptions. */
const triggerFields = (fields: readonly EventField[], service: string) =>
  Object.fromEntries(
    fields.map(([key, event]) => [key, flag(`Whether ${service} acts on the event \`${event}\`.`)]),
  )

/** The services share the shape of the triggers that callers send. */
const anyService = 'the configured service'

const dottedFields = eventNames.map((event): EventField => [event, event])
const groupedFields = eventNames.flatMap((event): EventField[] => {
  const grouped = groupedNames[event]
  return grouped === null ? [] : [[grouped, event]]
})

const triggersOf = (group: EventGroup, description: string) => {
  const fields = groupedFields.flatMap(([grouped, event]): EventField[] => {
    const [ownGroup, name] = splitGroupedName(grouped as GroupedName)
    return ownGroup === group ? [[name, event]] : []
  })
  return closedObject(triggerFields(fields, anyService), description)
}
export const CommentTriggers = triggersOf('comment', 'Triggers for the events of comments, by name.')
export const HuddleTriggers = triggersOf('huddle', 'Triggers for the events of huddles, by name.')
export const CrdtTriggers = triggersOf('crdt', 'Triggers for the events of editors, by name.')
export const RecorderTriggers = triggersOf('recorder', 'Triggers for the events of recordings, by name.')

/** Triggers in a request, in every spelling (spec 24.3). Names of unknown events are refused. */
export const TriggersInput = Type.Unsafe<AnyTriggers>(
  closedObject({
    ...triggerFields([...dottedFields, ...groupedFields], anyService),
    comment: CommentTriggers,
    huddle: HuddleTriggers,
    crdt: CrdtTriggers,
    recorder: RecorderTriggers,
  } satisfies Record<EventGroup, object>),
)

/** Triggers in an answer. */
export const TriggersOutput = Type.Unsafe<Triggers>(closedObject(triggerFields(dottedFields, 'the service')))

const emailTriggers = 'The events that the email service acts on, by name.'

export const EmailServiceType = choice(
  ['default', 'sendgrid', 'custom'],
  'How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses SendGrid.',
)

const emailFields = {
  fromEmail: 'Sender address of emails.',
  fromCompany: 'Company name of the sender.',
  commentTemplateId: 'Id of the template for emails about comments, at the mail provider.',
  tagTemplateId: 'Id of the template for emails about mentions, at the mail provider.',
}

export const EmailServiceConfigInput = Type.Object(
  {
    type: Type.Optional(EmailServiceType),
    apiKey: Type.Optional(
      Type.String({
        maxLength: 1000,
        pattern: '^[\\x21-\\x7e]*$',
        description: 'API key of the mail provider. An empty string removes it.',
      }),
    ),
    fromEmail: Type.Optional(singleLine(320, emailFields.fromEmail)),
    fromCompany: Type.Optional(singleLine(200, emailFields.fromCompany)),
    commentTemplateId: Type.Optional(singleLine(200, emailFields.commentTemplateId)),
    tagTemplateId: Type.Optional(singleLine(200, emailFields.tagTemplateId)),
    triggers: Type.Optional(described(TriggersInput, emailTriggers)),
  },
  { 'x-invalid': 'Invalid email service configuration.' },
)

export const EmailServiceConfig = Type.Object({
  type: EmailServiceType,
  apiKey: text('API key of the mail provider, masked. Empty if none is set.'),
  fromEmail: text(emailFields.fromEmail),
  fromCompany: text(emailFields.fromCompany),
  commentTemplateId: text(emailFields.commentTemplateId),
  tagTemplateId: text(emailFields.tagTemplateId),
  triggers: Type.Optional(described(TriggersOutput, emailTriggers)),
})

export const UseEmailService = flag('Whether emails are sent.')
export const emailServiceDescription = 'Settings of the email service.'

export const EmailConfig = Type.Object({
  useEmailService: UseEmailService,
  emailServiceConfig: described(EmailServiceConfig, emailServiceDescription),
})
export type EmailConfig = Type.Static<typeof EmailConfig>

export const UseWebhookService = flag('Whether the URLs of the webhook service are called.')
export const webhookServiceDescription = 'Settings of the webhook service.'

const webhookFields = {
  rawNotificationUrl: 'URL that receives each event as it happened. Empty: none.',
  processedNotificationUrl:
    'URL that receives each event with what the server found out about its recipients. Empty: none.',
  triggers: 'The events that the webhook service acts on, by name.',
}

/** How payloads are sealed, in the basic and in the advanced webhooks (spec 24.7). */
export const webhookBodyFields = {
  encodeData: flag('Whether the payload is Base64-encoded. Default: false.'),
  encryptData: flag('Whether the payload is encrypted with `publicKey`. Takes precedence over `encodeData`.'),
  publicKey: Type.String({
    maxLength: 10_000,
    description:
      'RSA public key that encrypts payloads: Base64 without the lines `BEGIN` and `END`. 2048 bits are recommended. An empty string removes it.',
  }),
  enableDataProtection: flag(
    'Whether the payload leaves out the texts of comments and the names and email addresses of users.',
  ),
}

export const WebhookServiceConfigInput = Type.Object(
  {
    authToken: Type.Optional(
      Type.String({
        maxLength: 1000,
        pattern: '^[\\x20-\\x7e]*$',
        description:
          'Secret that the receiver of the webhook checks, sent as `Authorization: Basic …`. An empty string removes it.',
      }),
    ),
    rawNotificationUrl: Type.Optional(singleLine(2000, webhookFields.rawNotificationUrl)),
    processedNotificationUrl: Type.Optional(singleLine(2000, webhookFields.processedNotificationUrl)),
    encodeData: Type.Optional(webhookBodyFields.encodeData),
    encryptData: Type.Optional(webhookBodyFields.encryptData),
    publicKey: Type.Optional(webhookBodyFields.publicKey),
    enableDataProtection: Type.Optional(webhookBodyFields.enableDataProtection),
    triggers: Type.Optional(described(TriggersInput, webhookFields.triggers)),
  },
  { 'x-invalid': 'Invalid webhook service configuration.' },
)

export const WebhookServiceConfig = Type.Object({
  authToken: text('Secret that the receiver of the webhook checks, masked. Empty if none is set.'),
  rawNotificationUrl: text(webhookFields.rawNotificationUrl),
  processedNotificationUrl: text(webhookFields.processedNotificationUrl),
  encodeData: Type.Optional(webhookBodyFields.encodeData),
  encryptData: Type.Optional(webhookBodyFields.encryptData),
  publicKey: Type.Optional(webhookBodyFields.publicKey),
  enableDataProtection: Type.Optional(webhookBodyFields.enableDataProtection),
  triggers: Type.Optional(described(TriggersOutput, webhookFields.triggers)),
})

export const WebhookConfig = Type.Object({
  useWebhookService: UseWebhookService,
  webhookServiceConfig: described(WebhookServiceConfig, webhookServiceDescription),
})
export type WebhookConfig = Type.Static<typeof WebhookConfig>
