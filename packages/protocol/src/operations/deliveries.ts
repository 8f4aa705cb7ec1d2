import Type from 'typebox'
import { oneOf } from '../base/conditions.ts'
import { operation } from '../base/operation.ts'
import { PageSize, PageToken } from '../base/fields.ts'
import {
  Delivery,
  DeliveryChannel,
  DeliveryStatus,
  maxRetriedDeliveries,
  RestartedDeliveries,
} from '../resources/deliveries.ts'

const target = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 320,
    description:
      'Only deliveries to this receiver: the id of an endpoint, `rawNotificationUrl`, `processedNotificationUrl`, or an email address.',
  }),
)

export const deliveries = {
  get: operation({
    spec: '28.1',
    path: '/workspace/deliveries/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Deliveries',
    summary: 'Lists emails and webhooks of the API key, newest first, with the state of each delivery.',
    description: 'Deliveries are removed 14 days after they were added, unless they are pending.',
    input: Type.Object({
      status: Type.Optional(DeliveryStatus),
      channel: Type.Optional(DeliveryChannel),
      target,
      event: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Only deliveries about this event.' }),
      ),
      pageSize: Type.Optional(PageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(Delivery),
    paging: ['nextPageToken'],
    message: 'Deliveries retrieved successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }],
    example: {
      input: { status: 'failed' },
      output: [
        {
          deliveryId: 'dlv_1',
          messageId: 'msg_1',
          channel: 'webhook',
          target: 'ep_1',
          event: 'comment.add',
          status: 'failed',
          attempts: 8,
          createdAt: 1738595077691,
          lastAttemptAt: 1738695077691,
          lastStatusCode: 500,
          lastAnswer: 'Internal Server Error',
          lastError: 'The receiver answered with HTTP 500 Internal Server Error.',
        },
      ],
    },
  }),
  retry: operation({
    spec: '28.2',
    path: '/workspace/deliveries/retry',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Retry Deliveries',
    summary: 'Delivers again: the deliveries with these ids, or those that failed.',
    description:
      'A retried delivery starts its schedule from the beginning. The id of the message stays the same. What it says is read again, and a mail that its recipient may not see any more is cancelled. With `deliveryIds`, deliveries in any state are repeated, also those that succeeded. With `failedSince`, those that failed are repeated: up to 200 in one call, oldest first.',
    input: Type.Object(
      {
        deliveryIds: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
            minItems: 1,
            maxItems: maxRetriedDeliveries,
            description: 'Ids of deliveries.',
          }),
        ),
        failedSince: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description:
              'Failed deliveries that were added at this time or later, as Unix time in milliseconds.',
          }),
        ),
        target,
      },
      { 'x-conditions': oneOf('deliveryIds', 'failedSince') },
    ),
    output: RestartedDeliveries,
    message: 'Deliveries restarted successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'Either deliveryIds or failedSince must be provided.',
      },
    ],
    example: {
      input: { failedSince: 1738595077691, target: 'ep_1' },
      output: { restarted: 1, hasMore: false },
    },
  }),
}
