import Type from 'typebox'
import {
  type AnyTriggers,
  type EventGroup,
  eventNames,
  type GroupedName,
  groupedNames,
  splitGroupedName,
  type Triggers,
} from '../base/events.ts'
import { choice, described, flag, text } from '../base/schemas.ts'

/** Text without line breaks, because it ends up in a mail or a header. */
const singleLine = (maxLength: number, description: string) =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    'x-invalid': 'must be one line.',
    description,
  })

const Trigger = flag('Whether the service acts on this event.')

/** An object that refuses unknown fields. */
const closedObject = (properties: Record<string, object>, description?: string) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(description && { description }),
})
const triggersNamed = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, Trigger]))

const grouped = Object.values(groupedNames).filter((name): name is GroupedName => name !== null)

const triggersOf = (group: EventGroup, description: string) => {
  const names = grouped.map(splitGroupedName).flatMap(([of, name]) => (of === group ? [name] : []))
  return closedObject(triggersNamed(names), description)
}
export const CommentTriggers = triggersOf('comment', 'The events of comments, by name.')
export const HuddleTriggers = triggersOf('huddle', 'The events of huddles, by name.')
export const CrdtTriggers = triggersOf('crdt', 'The events of editors, by name.')
export const RecorderTriggers = triggersOf('recorder', 'The events of recordings, by name.')

/** Triggers as they are sent, in every spelling (spec 24.3). Names of unknown events are refused. */
export const TriggersInput = Type.Unsafe<AnyTriggers>(
  closedObject({
    ...triggersNamed([...eventNames, ...grouped]),
    comment: CommentTriggers,
    huddle: HuddleTriggers,
    crdt: CrdtTriggers,
    recorder: RecorderTriggers,
  } satisfies Record<EventGroup, object>),
)

/** Triggers as they are stored and read. */
export const TriggersOutput = Type.Unsafe<Triggers>(closedObject(triggersNamed(eventNames)))

const triggers = 'The events that the service acts on, by name.'

export const EmailServiceType = choice(
  ['default', 'sendgrid', 'custom'],
  'How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses that provider.',
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
    triggers: Type.Optional(described(TriggersInput, triggers)),
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
  triggers: Type.Optional(described(TriggersOutput, triggers)),
})

const notSentYet = 'Stored: the server does not send email yet.'

export const UseEmailService = flag(`Whether emails are sent. ${notSentYet}`)
export const emailServiceDescription = `Settings of the email service. ${notSentYet}`

export const EmailConfig = Type.Object({
  useEmailService: UseEmailService,
  emailServiceConfig: described(EmailServiceConfig, emailServiceDescription),
})
export type EmailConfig = Type.Static<typeof EmailConfig>

const notCalledYet = 'Stored: the server does not call webhooks yet.'

export const UseWebhookService = flag(`Whether webhooks are called. ${notCalledYet}`)
export const webhookServiceDescription = `Settings of the webhook service. ${notCalledYet}`

export const WebhookServiceConfigInput = Type.Object(
  {
    authToken: Type.Optional(singleLine(1000, 'Secret that the receiver checks.')),
    rawNotificationUrl: Type.Optional(singleLine(2000, 'URL that receives unprocessed events.')),
    processedNotificationUrl: Type.Optional(singleLine(2000, 'URL that receives processed events.')),
    encodeData: Type.Optional(flag('Whether the payload is Base64-encoded.')),
    encryptData: Type.Optional(flag('Whether the payload is encrypted with `publicKey`.')),
    publicKey: Type.Optional(
      Type.String({ maxLength: 10_000, description: 'Public key that encrypts the payload.' }),
    ),
    enableDataProtection: Type.Optional(
      flag('Whether the texts of comments and the names and email addresses of users are left out.'),
    ),
    triggers: Type.Optional(described(TriggersInput, triggers)),
  },
  { 'x-invalid': 'Invalid webhook service configuration.' },
)
