// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { KeyType, ApiKeySummary } from './workspace.ts'

export interface EmailServiceConfigInput {
  /**
   * How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses
   * SendGrid.
   */
  type?: EmailServiceType
  /** API key of the mail provider. An empty string removes it. At most 1,000 characters. */
  apiKey?: string
  /** Sender address of emails. At most 320 characters. Must be one line. */
  fromEmail?: string
  /** Company name of the sender. At most 200 characters. Must be one line. */
  fromCompany?: string
  /**
   * Id of the template for emails about comments, at the mail provider. At most 200 characters. Must be one
   * line.
   */
  commentTemplateId?: string
  /**
   * Id of the template for emails about mentions, at the mail provider. At most 200 characters. Must be one
   * line.
   */
  tagTemplateId?: string
  /** The events that the email service acts on, by name. */
  triggers?: TriggersInput
}

export interface WebhookServiceConfigInput {
  /**
   * Secret that the receiver of the webhook checks, sent as `Authorization: Basic …`. An empty string removes
   * it. At most 1,000 characters.
   */
  authToken?: string
  /** URL that receives each event as it happened. Empty: none. At most 2,000 characters. Must be one line. */
  rawNotificationUrl?: string
  /**
   * URL that receives each event with what the server found out about its recipients. Empty: none. At most
   * 2,000 characters. Must be one line.
   */
  processedNotificationUrl?: string
  /** Whether the payload is Base64-encoded. Default: false. */
  encodeData?: boolean
  /** Whether the payload is encrypted with `publicKey`. Takes precedence over `encodeData`. */
  encryptData?: boolean
  /**
   * RSA public key that encrypts payloads: Base64 without the lines `BEGIN` and `END`. 2048 bits are
   * recommended. An empty string removes it. At most 10,000 characters.
   */
  publicKey?: string
  /** Whether the payload leaves out the texts of comments and the names and email addresses of users. */
  enableDataProtection?: boolean
  /** The events that the webhook service acts on, by name. */
  triggers?: TriggersInput
}

export interface NewApiKey {
  /** Id of the new API key. */
  apiKey: string
}

/**
 * How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses SendGrid.
 */
export type EmailServiceType = 'default' | 'sendgrid' | 'custom'

export interface TriggersInput {
  /** Whether the configured service acts on the event `comment_annotation.add`. */
  'comment_annotation.add'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.assign`. */
  'comment_annotation.assign'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.status_change`. */
  'comment_annotation.status_change'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.priority_change`. */
  'comment_annotation.priority_change'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.custom_list_change`. */
  'comment_annotation.custom_list_change'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.access_mode_change`. */
  'comment_annotation.access_mode_change'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.subscribe`. */
  'comment_annotation.subscribe'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.unsubscribe`. */
  'comment_annotation.unsubscribe'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.accept`. */
  'comment_annotation.accept'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.reject`. */
  'comment_annotation.reject'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.approve`. */
  'comment_annotation.approve'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_accept`. */
  'comment_annotation.suggestion_accept'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_reject`. */
  'comment_annotation.suggestion_reject'?: boolean
  /** Whether the configured service acts on the event `comment.add`. */
  'comment.add'?: boolean
  /** Whether the configured service acts on the event `comment.update`. */
  'comment.update'?: boolean
  /** Whether the configured service acts on the event `comment.delete`. */
  'comment.delete'?: boolean
  /** Whether the configured service acts on the event `comment.reaction_add`. */
  'comment.reaction_add'?: boolean
  /** Whether the configured service acts on the event `comment.reaction_delete`. */
  'comment.reaction_delete'?: boolean
  /** Whether the configured service acts on the event `huddle.create`. */
  'huddle.create'?: boolean
  /** Whether the configured service acts on the event `huddle.join`. */
  'huddle.join'?: boolean
  /** Whether the configured service acts on the event `crdt.update_data`. */
  'crdt.update_data'?: boolean
  /** Whether the configured service acts on the event `recorder.done`. */
  'recorder.done'?: boolean
  /** Whether the configured service acts on the event `message.attempt.exhausted`. */
  'message.attempt.exhausted'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.add`. */
  'comment.newlyAdded'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.assign`. */
  'comment.assigned'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.status_change`. */
  'comment.statusChanged'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.priority_change`. */
  'comment.priorityChanged'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.custom_list_change`. */
  'comment.customListChanged'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.access_mode_change`. */
  'comment.accessModeChanged'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.subscribe`. */
  'comment.subscribed'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.unsubscribe`. */
  'comment.unsubscribed'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.accept`. */
  'comment.accepted'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.reject`. */
  'comment.rejected'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.approve`. */
  'comment.approved'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_accept`. */
  'comment.suggestionAccepted'?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_reject`. */
  'comment.suggestionRejected'?: boolean
  /** Whether the configured service acts on the event `comment.add`. */
  'comment.added'?: boolean
  /** Whether the configured service acts on the event `comment.update`. */
  'comment.updated'?: boolean
  /** Whether the configured service acts on the event `comment.delete`. */
  'comment.deleted'?: boolean
  /** Whether the configured service acts on the event `comment.reaction_add`. */
  'comment.reactionAdded'?: boolean
  /** Whether the configured service acts on the event `comment.reaction_delete`. */
  'comment.reactionDeleted'?: boolean
  /** Whether the configured service acts on the event `huddle.create`. */
  'huddle.created'?: boolean
  /** Whether the configured service acts on the event `crdt.update_data`. */
  'crdt.updateData'?: boolean
  /** Triggers for the events of comments, by name. */
  comment?: CommentTriggers
  /** Triggers for the events of huddles, by name. */
  huddle?: HuddleTriggers
  /** Triggers for the events of editors, by name. */
  crdt?: CrdtTriggers
  /** Triggers for the events of recordings, by name. */
  recorder?: RecorderTriggers
}

export interface CommentTriggers {
  /** Whether the configured service acts on the event `comment_annotation.add`. */
  newlyAdded?: boolean
  /** Whether the configured service acts on the event `comment_annotation.assign`. */
  assigned?: boolean
  /** Whether the configured service acts on the event `comment_annotation.status_change`. */
  statusChanged?: boolean
  /** Whether the configured service acts on the event `comment_annotation.priority_change`. */
  priorityChanged?: boolean
  /** Whether the configured service acts on the event `comment_annotation.custom_list_change`. */
  customListChanged?: boolean
  /** Whether the configured service acts on the event `comment_annotation.access_mode_change`. */
  accessModeChanged?: boolean
  /** Whether the configured service acts on the event `comment_annotation.subscribe`. */
  subscribed?: boolean
  /** Whether the configured service acts on the event `comment_annotation.unsubscribe`. */
  unsubscribed?: boolean
  /** Whether the configured service acts on the event `comment_annotation.accept`. */
  accepted?: boolean
  /** Whether the configured service acts on the event `comment_annotation.reject`. */
  rejected?: boolean
  /** Whether the configured service acts on the event `comment_annotation.approve`. */
  approved?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_accept`. */
  suggestionAccepted?: boolean
  /** Whether the configured service acts on the event `comment_annotation.suggestion_reject`. */
  suggestionRejected?: boolean
  /** Whether the configured service acts on the event `comment.add`. */
  added?: boolean
  /** Whether the configured service acts on the event `comment.update`. */
  updated?: boolean
  /** Whether the configured service acts on the event `comment.delete`. */
  deleted?: boolean
  /** Whether the configured service acts on the event `comment.reaction_add`. */
  reactionAdded?: boolean
  /** Whether the configured service acts on the event `comment.reaction_delete`. */
  reactionDeleted?: boolean
}

export interface HuddleTriggers {
  /** Whether the configured service acts on the event `huddle.create`. */
  created?: boolean
  /** Whether the configured service acts on the event `huddle.join`. */
  join?: boolean
}

export interface CrdtTriggers {
  /** Whether the configured service acts on the event `crdt.update_data`. */
  updateData?: boolean
}

export interface RecorderTriggers {
  /** Whether the configured service acts on the event `recorder.done`. */
  done?: boolean
}

export interface ApiKeysCreateInput {
  /** Email address of the owner. At most 320 characters. */
  ownerEmail: string
  /** Kind of the API key. Use `testing` for development. */
  type: KeyType
  /**
   * Display name of the API key. Default: derived from `ownerEmail`. At most 200 characters. Must not be
   * blank.
   */
  apiKeyName?: string
  /** Whether to create an auth token for the API key. Default: true. */
  createAuthToken?: boolean
  /**
   * Region of stored data. Stored without effect. At most 100 characters. Must consist of lower-case letters,
   * digits and "-".
   */
  persistenceDBRegion?: string
  /**
   * Region of live data. Stored without effect. At most 100 characters. Must consist of lower-case letters,
   * digits and "-".
   */
  realtimeDBRegion?: string
  /**
   * The domains whose pages may use the API key, as URLs or hosts. Every domain may if this list is empty and
   * localhost is not added either. At most 100 items. Each: at most 2,000 characters.
   */
  allowedDomains?: string[]
  /** Whether to allow `localhost` and `127.0.0.1`. Default: true for a testing key. */
  addLocalHostToAllowedDomains?: boolean
  /** Whether emails are sent. */
  useEmailService?: boolean
  /** Whether the URLs of the webhook service are called. */
  useWebhookService?: boolean
  /** Whether notifications can be added and read. Default: true. */
  useNotificationService?: boolean
  /** Whether the email service starts with the default triggers. Default: false. */
  setDefaultEmailTriggers?: boolean
  /**
   * Whether the default triggers of the notification service are stored now. They apply without this too,
   * until triggers are set. Default: false.
   */
  setDefaultNotificationTriggers?: boolean
  /** Whether users become members of the organizations that their token names when they connect. */
  requireAutoOrgUser?: boolean
  /** Whether users can make comments private. Backends always can. */
  enablePrivateComments?: boolean
  /** Settings of the email service. */
  emailServiceConfig?: EmailServiceConfigInput
  /** Settings of the webhook service. */
  webhookServiceConfig?: WebhookServiceConfigInput
}

export interface ApiKeysUpdateInput {
  /** Id of the API key. */
  apiKey: string
  /** Display name of the API key. At most 200 characters. Must not be blank. */
  apiKeyName: string
}

export interface ApiKeysGetInput {
  /** Ids of the API keys to read. Default: all. At most 100 items. */
  apiKeys?: string[]
  /** Maximum number of items on the page. From 1 to 100. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

/** Every record belongs to one API key. Two keys of a workspace share no data. */
export interface ApiKeysOperations {
  /**
   * Creates an API key in the workspace. Read its auth token with Get Auth Tokens. Regions are stored without
   * effect. `defaultDocumentAccessType` starts as the server setting `DEFAULT_DOCUMENT_ACCESS`; change it
   * with Update API Key Config.
   *
   * `POST /v2/workspace/apikey/create`
   */
  create(input: ApiKeysCreateInput, options?: CallOptions): Promise<Result<NewApiKey>>
  /**
   * Renames an API key.
   *
   * `POST /v2/workspace/apikey/update`
   */
  update(input: ApiKeysUpdateInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Reads the API keys of the workspace, all or by id. Ids that do not exist or belong to another workspace
   * are left out.
   *
   * `POST /v2/workspace/apikeys/get`
   */
  get(input?: ApiKeysGetInput, options?: CallOptions): Promise<Result<ApiKeySummary[]>>
}
