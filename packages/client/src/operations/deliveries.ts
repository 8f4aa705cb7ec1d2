// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

/**
 * State of the delivery. `pending`: an attempt is due or runs. `failed`: all attempts failed, or the receiver
 * refused the message. `cancelled`: the receiver is gone or does not want the message any more.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

/**
 * What is delivered: `webhook` to an endpoint, `basicWebhook` to a URL of the basic webhook configuration, or
 * `email`.
 */
export type DeliveryChannel = 'webhook' | 'basicWebhook' | 'email'

export interface Delivery {
  /** Id of the delivery. */
  deliveryId: string
  /**
   * Id of the message. All attempts and all receivers get the same id: webhooks as `webhook-id`, so that a
   * receiver can detect repetitions.
   */
  messageId: string
  /**
   * What is delivered: `webhook` to an endpoint, `basicWebhook` to a URL of the basic webhook configuration,
   * or `email`.
   */
  channel: DeliveryChannel
  /**
   * The receiver: the id of an endpoint, `rawNotificationUrl`, `processedNotificationUrl`, or an email
   * address.
   */
  target: string
  /** The user whom the email is for. */
  userId?: string
  /** Name of the event that the message is about, such as `comment.add`. */
  event: string
  /**
   * State of the delivery. `pending`: an attempt is due or runs. `failed`: all attempts failed, or the
   * receiver refused the message. `cancelled`: the receiver is gone or does not want the message any more.
   */
  status: DeliveryStatus
  /** Attempts so far. */
  attempts: number
  /** When the delivery was added, as Unix time in milliseconds. */
  createdAt: number
  /** When the next attempt is due, as Unix time in milliseconds. */
  nextAttemptAt?: number
  /** When the last attempt ended, as Unix time in milliseconds. */
  lastAttemptAt?: number
  /** Status code of the last answer: of HTTP, or of the mail server. */
  lastStatusCode?: number
  /** Beginning of the last answer. */
  lastAnswer?: string
  /** Why the last attempt failed, or why the delivery was cancelled. */
  lastError?: string
}

export interface RestartedDeliveries {
  /** How many deliveries are tried again. */
  restarted: number
  /** Whether there are more deliveries that fit. Call the operation again to restart them. */
  hasMore: boolean
}

export interface DeliveriesGetInput {
  /**
   * State of the delivery. `pending`: an attempt is due or runs. `failed`: all attempts failed, or the
   * receiver refused the message. `cancelled`: the receiver is gone or does not want the message any more.
   */
  status?: DeliveryStatus
  /**
   * What is delivered: `webhook` to an endpoint, `basicWebhook` to a URL of the basic webhook configuration,
   * or `email`.
   */
  channel?: DeliveryChannel
  /**
   * Only deliveries to this receiver: the id of an endpoint, `rawNotificationUrl`,
   * `processedNotificationUrl`, or an email address. At most 320 characters.
   */
  target?: string
  /** Only deliveries about this event. At most 100 characters. */
  event?: string
  /** Maximum number of items on the page. From 1 to 1,000. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface DeliveriesRetryInput {
  /** Ids of deliveries. From 1 to 200 items. Each: at most 100 characters. */
  deliveryIds?: string[]
  /** Failed deliveries that were added at this time or later, as Unix time in milliseconds. At least 0. */
  failedSince?: number
  /**
   * Only deliveries to this receiver: the id of an endpoint, `rawNotificationUrl`,
   * `processedNotificationUrl`, or an email address. At most 320 characters.
   */
  target?: string
}

/** The emails and webhooks of an API key: whether each has arrived, and sending it again. */
export interface DeliveriesOperations {
  /**
   * Lists emails and webhooks of the API key, newest first, with the state of each delivery. Deliveries are
   * removed 14 days after they were added, unless they are pending.
   *
   * `POST /v2/workspace/deliveries/get`
   */
  get(input?: DeliveriesGetInput, options?: CallOptions): Promise<Result<Delivery[]>>
  /**
   * Delivers again: the deliveries with these ids, or those that failed. A retried delivery starts its
   * schedule from the beginning. The id of the message stays the same. What it says is read again, and a mail
   * that its recipient may not see any more is cancelled. With `deliveryIds`, deliveries in any state are
   * repeated, also those that succeeded. With `failedSince`, those that failed are repeated: up to 200 in one
   * call, oldest first.
   *
   * `POST /v2/workspace/deliveries/retry`
   */
  retry(input?: DeliveriesRetryInput, options?: CallOptions): Promise<Result<RestartedDeliveries>>
}
