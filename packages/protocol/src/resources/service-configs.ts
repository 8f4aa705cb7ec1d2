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
import { choice, Flag } from '../base/fields.ts'

/** One line of text that ends up in a mail or a header. */
const Line = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$', 'x-invalid': 'must be one line.' })

const named = <N extends string>(names: readonly N[], schema: (name: N) => object) =>
  Object.fromEntries(names.map((name) => [name, schema(name)]))
const fields = (properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
})

const grouped = Object.values(groupedNames).filter((name): name is GroupedName => name !== null)
const groups = [...new Set(grouped.map((name) => splitGroupedName(name)[0]))]
const namesIn = (group: EventGroup) =>
  grouped.map(splitGroupedName).flatMap(([of, name]) => (of === group ? [name] : []))

/** In any spelling (spec 24.3); names of no event are refused. */
export const TriggersInput = Type.Unsafe<AnyTriggers>(
  fields({
    ...named([...eventNames, ...grouped], () => Flag),
    ...named(groups, (group) => fields(named(namesIn(group), () => Flag))),
  }),
)

/** Triggers as they are stored and read. */
export const TriggersOutput = Type.Unsafe<Triggers>(fields(named(eventNames, () => Flag)))

/** `default` and `custom` send through the server's own mail settings, `sendgrid` through that provider. */
export const EmailServiceType = choice(['default', 'sendgrid', 'custom'])

export const EmailServiceConfigInput = Type.Object(
  {
    type: Type.Optional(EmailServiceType),
    apiKey: Type.Optional(Type.String({ maxLength: 1000, pattern: '^[\\x21-\\x7e]*$' })),
    fromEmail: Type.Optional(Line(320)),
    fromCompany: Type.Optional(Line(200)),
    commentTemplateId: Type.Optional(Line(200)),
    tagTemplateId: Type.Optional(Line(200)),
    triggers: Type.Optional(TriggersInput),
  },
  { 'x-invalid': 'Invalid email service configuration.' },
)

export const EmailConfig = Type.Object({
  useEmailService: Type.Boolean(),
  emailServiceConfig: Type.Object({
    type: EmailServiceType,
    apiKey: Type.String({ description: 'Masked; empty when none is set.' }),
    fromEmail: Type.String(),
    fromCompany: Type.String(),
    commentTemplateId: Type.String(),
    tagTemplateId: Type.String(),
    triggers: Type.Optional(TriggersOutput),
  }),
})
export type EmailConfig = Type.Static<typeof EmailConfig>

export const WebhookServiceConfigInput = Type.Object(
  {
    authToken: Type.Optional(Line(1000)),
    rawNotificationUrl: Type.Optional(Line(2000)),
    processedNotificationUrl: Type.Optional(Line(2000)),
    encodeData: Type.Optional(Flag),
    encryptData: Type.Optional(Flag),
    publicKey: Type.Optional(Type.String({ maxLength: 10_000 })),
    enableDataProtection: Type.Optional(Flag),
    triggers: Type.Optional(TriggersInput),
  },
  { 'x-invalid': 'Invalid webhook service configuration.' },
)
