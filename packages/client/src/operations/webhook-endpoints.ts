// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface WebhookEndpoint {
  /** Id of the endpoint. */
  id: string
  /** URL that receives the events, over http or https. */
  url: string
  /** Note about the endpoint. */
  description: string | null
  /** Names of the events that the endpoint receives. None: all events. */
  filterTypes: string[] | null
  /** Ids of the organizations whose events the endpoint receives. None: all organizations. */
  channels: string[] | null
  /** Whether the endpoint receives nothing. */
  disabled: boolean
  /** Why the server disabled the endpoint. Absent if it did not. */
  disabledReason?: string
  /** Maximum number of deliveries per second. None: no limit. Further ones wait. */
  rateLimit: number | null
  /** Id of your own for the endpoint, unique under the API key. It cannot be changed. */
  uid: string | null
  /** Time of creation, in ISO 8601. */
  createdAt: string
  /** Time of the last change, in ISO 8601. */
  updatedAt: string
}

export interface WebhookEndpointRef {
  /** Id of the endpoint. */
  endpointId: string
}

export interface EndpointSecret {
  /** Id of the endpoint. */
  endpointId: string
  /** The secret that signs deliveries to the endpoint: `whsec_` and Base64. */
  secret: string
}

export interface WebhookEndpointsCreateInput {
  /** URL that receives the events, over http or https. At most 2,000 characters. */
  url: string
  /** Note about the endpoint. `null` is the same as none. At most 1,000 characters. */
  description?: string | null
  /**
   * Names of the events that the endpoint receives. None: all events. `null` is the same as none. From 1 to
   * 100 items.
   */
  filterTypes?: ('comment_annotation.add' | 'comment_annotation.assign' | 'comment_annotation.status_change' | 'comment_annotation.priority_change' | 'comment_annotation.custom_list_change' | 'comment_annotation.access_mode_change' | 'comment_annotation.subscribe' | 'comment_annotation.unsubscribe' | 'comment_annotation.accept' | 'comment_annotation.reject' | 'comment_annotation.approve' | 'comment_annotation.suggestion_accept' | 'comment_annotation.suggestion_reject' | 'comment.add' | 'comment.update' | 'comment.delete' | 'comment.reaction_add' | 'comment.reaction_delete' | 'huddle.create' | 'huddle.join' | 'crdt.update_data' | 'recorder.done' | 'message.attempt.exhausted' | 'comment.newlyAdded' | 'comment.assigned' | 'comment.statusChanged' | 'comment.priorityChanged' | 'comment.customListChanged' | 'comment.accessModeChanged' | 'comment.subscribed' | 'comment.unsubscribed' | 'comment.accepted' | 'comment.rejected' | 'comment.approved' | 'comment.suggestionAccepted' | 'comment.suggestionRejected' | 'comment.added' | 'comment.updated' | 'comment.deleted' | 'comment.reactionAdded' | 'comment.reactionDeleted' | 'huddle.created' | 'crdt.updateData')[] | null
  /**
   * Ids of the organizations whose events the endpoint receives. None: all organizations. `null` is the same
   * as none. From 1 to 100 items.
   */
  channels?: string[] | null
  /** Whether the endpoint receives nothing. Default: false. */
  disabled?: boolean
  /**
   * Maximum number of deliveries per second. None: no limit. Further ones wait. `null` is the same as none.
   * From 1 to 10,000.
   */
  rateLimit?: number | null
  /** Texts of your own, by name. They are stored, but not returned. `null` is the same as none. */
  metadata?: Record<string, string> | null
  /**
   * Id of your own for the endpoint, unique under the API key. It cannot be changed. `null` is the same as
   * none.
   */
  uid?: string | null
}

export interface WebhookEndpointsGetInput {
  /** Maximum number of endpoints. Default: 50. From 1 to 250. */
  limit?: number
  /** Where to continue: the `iterator` of the previous answer. At most 4,096 characters. */
  iterator?: string
}

export interface WebhookEndpointsGetOutput {
  /** The endpoints of this page. */
  endpoints: WebhookEndpoint[]
  /** Send it to read the next page. `null`: there is none. */
  iterator: string | null
  /** Always `null`: pages are read forward only. */
  prevIterator: null
  /** Whether this is the last page. */
  done: boolean
}

export interface WebhookEndpointsUpdateInput {
  /** Id of the endpoint. */
  endpointId: string
  /** URL that receives the events, over http or https. At most 2,000 characters. */
  url?: string
  /** Note about the endpoint. `null` is the same as none. At most 1,000 characters. */
  description?: string | null
  /**
   * Names of the events that the endpoint receives. None: all events. `null` is the same as none. From 1 to
   * 100 items.
   */
  filterTypes?: ('comment_annotation.add' | 'comment_annotation.assign' | 'comment_annotation.status_change' | 'comment_annotation.priority_change' | 'comment_annotation.custom_list_change' | 'comment_annotation.access_mode_change' | 'comment_annotation.subscribe' | 'comment_annotation.unsubscribe' | 'comment_annotation.accept' | 'comment_annotation.reject' | 'comment_annotation.approve' | 'comment_annotation.suggestion_accept' | 'comment_annotation.suggestion_reject' | 'comment.add' | 'comment.update' | 'comment.delete' | 'comment.reaction_add' | 'comment.reaction_delete' | 'huddle.create' | 'huddle.join' | 'crdt.update_data' | 'recorder.done' | 'message.attempt.exhausted' | 'comment.newlyAdded' | 'comment.assigned' | 'comment.statusChanged' | 'comment.priorityChanged' | 'comment.customListChanged' | 'comment.accessModeChanged' | 'comment.subscribed' | 'comment.unsubscribed' | 'comment.accepted' | 'comment.rejected' | 'comment.approved' | 'comment.suggestionAccepted' | 'comment.suggestionRejected' | 'comment.added' | 'comment.updated' | 'comment.deleted' | 'comment.reactionAdded' | 'comment.reactionDeleted' | 'huddle.created' | 'crdt.updateData')[] | null
  /**
   * Ids of the organizations whose events the endpoint receives. None: all organizations. `null` is the same
   * as none. From 1 to 100 items.
   */
  channels?: string[] | null
  /** Whether the endpoint receives nothing. Default: false. */
  disabled?: boolean
  /**
   * Maximum number of deliveries per second. None: no limit. Further ones wait. `null` is the same as none.
   * From 1 to 10,000.
   */
  rateLimit?: number | null
  /** Texts of your own, by name. They are stored, but not returned. `null` is the same as none. */
  metadata?: Record<string, string> | null
}

export type WebhookEndpointsDeleteInput = WebhookEndpointRef

export interface WebhookEndpointsDeleteOutput {
  /** Id of the endpoint. */
  endpointId: string
  /** Always true. */
  deleted: boolean
}

export type WebhookEndpointsGetSecretInput = WebhookEndpointRef

export type WebhookEndpointsRotateSecretInput = WebhookEndpointRef

/** URLs of yours that receive signed deliveries of the events that you choose. */
export interface WebhookEndpointsOperations {
  /**
   * Adds an endpoint of the advanced webhooks. The server generates the secret that signs deliveries. Get
   * Webhook Endpoint Secret reads it.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/create`
   */
  create(input: WebhookEndpointsCreateInput, options?: CallOptions): Promise<Result<WebhookEndpoint>>
  /**
   * Reads the endpoints of the advanced webhooks, oldest first.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/get`
   */
  get(input?: WebhookEndpointsGetInput, options?: CallOptions): Promise<Result<WebhookEndpointsGetOutput>>
  /**
   * Changes an endpoint of the advanced webhooks. Fields that are not sent keep their value. Disabling an
   * endpoint stops the attempts to deliver to it.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/update`
   */
  update(input: WebhookEndpointsUpdateInput, options?: CallOptions): Promise<Result<WebhookEndpoint>>
  /**
   * Deletes an endpoint of the advanced webhooks, with its secret. Deliveries to the endpoint that are under
   * way or waiting are given up.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/delete`
   */
  delete(input: WebhookEndpointsDeleteInput, options?: CallOptions): Promise<Result<WebhookEndpointsDeleteOutput>>
  /**
   * Reads the secret that signs deliveries to an endpoint.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/secret/get`
   */
  getSecret(input: WebhookEndpointsGetSecretInput, options?: CallOptions): Promise<Result<EndpointSecret>>
  /**
   * Replaces the secret that signs deliveries to an endpoint. For 24 hours, deliveries are signed with the
   * new secret and with the one before it. Another rotation in that time ends the older one.
   *
   * `POST /v2/workspace/advancedwebhook/endpoints/secret/rotate`
   */
  rotateSecret(input: WebhookEndpointsRotateSecretInput, options?: CallOptions): Promise<Result<EndpointSecret>>
}
