import Type from 'typebox'
import { choice, text } from '../base/schemas.ts'

export const DeliveryChannel = choice(
  ['webhook', 'basicWebhook', 'email'],
  'What is delivered: `webhook` to an endpoint, `basicWebhook` to a URL of the basic webhook configuration, or `email`.',
)

export const DeliveryStatus = choice(
  ['pending', 'delivered', 'failed', 'cancelled'],
  'State of the delivery. `pending`: an attempt is due or runs. `failed`: all attempts failed, or the receiver refused the message. `cancelled`: the receiver is gone or does not want the message any more.',
)

/** A message for one receiver. */
export const Delivery = Type.Object({
  deliveryId: text('Id of the delivery.'),
  messageId: text(
    'Id of the message. All attempts and all receivers get the same id: webhooks as `webhook-id`, so that a receiver can detect repetitions.',
  ),
  channel: DeliveryChannel,
  target: text(
    'The receiver: the id of an endpoint, `rawNotificationUrl`, `processedNotificationUrl`, or an email address.',
  ),
  userId: Type.Optional(text('The user whom the email is for.')),
  event: text('Name of the event that the message is about, such as `comment.add`.'),
  status: DeliveryStatus,
  attempts: Type.Integer({ description: 'Attempts so far.' }),
  createdAt: Type.Integer({ description: 'When the delivery was added, as Unix time in milliseconds.' }),
  nextAttemptAt: Type.Optional(
    Type.Integer({ description: 'When the next attempt is due, as Unix time in milliseconds.' }),
  ),
  lastAttemptAt: Type.Optional(
    Type.Integer({ description: 'When the last attempt ended, as Unix time in milliseconds.' }),
  ),
  lastStatusCode: Type.Optional(
    Type.Integer({ description: 'Status code of the last answer: of HTTP, or of the mail server.' }),
  ),
  lastAnswer: Type.Optional(text('Beginning of the last answer.')),
  lastError: Type.Optional(text('Why the last attempt failed, or why the delivery was cancelled.')),
})
export type Delivery = Type.Static<typeof Delivery>

/** One call restarts this many deliveries: about 20 ms on SQLite. */
export const maxRetriedDeliveries = 200

export const RestartedDeliveries = Type.Object({
  restarted: Type.Integer({ description: 'How many deliveries are tried again.' }),
  hasMore: Type.Boolean({
    description: 'Whether there are more deliveries that fit. Call the operation again to restart them.',
  }),
})
