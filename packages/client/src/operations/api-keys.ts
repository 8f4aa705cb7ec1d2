// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { KeyType, ApiKeySummary } from './workspace.ts'

export interface EmailServiceConfigInput {
  /**
   * How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses that
   * provider.
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
  /** The events that the service acts on, by name. */
  triggers?: TriggersInput
}

export interface WebhookServiceConfigInput {
  /** Secret that the receiver checks. At most 1,000 characters. Must be one line. */
  authToken?: string
  /** URL that receives unprocessed events. At most 2,000 characters. Must be one line. */
  rawNotificationUrl?: string
  /** URL that receives processed events. At most 2,000 characters. Must be one line. */
  processedNotificationUrl?: string
  /** Whether the payload is Base64-encoded. */
  encodeData?: boolean
  /** Whether the payload is encrypted with `publicKey`. */
  encryptData?: boolean
  /** Public key that encrypts the payload. At most 10,000 characters. */
  publicKey?: string
  /** Whether the texts of comments and the names and email addresses of users are left out. */
  enableDataProtection?: boolean
  /** The events that the service acts on, by name. */
  triggers?: TriggersInput
}

export interface NewApiKey {
  /** Id of the new API key. */
  apiKey: string
}

/**
 * How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses that
 * provider.
 */
export type EmailServiceType = 'default' | 'sendgrid' | 'custom'

export interface TriggersInput {
  /** Whether the service acts on this event. */
  'comment_annotation.add'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.assign'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.status_change'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.priority_change'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.custom_list_change'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.access_mode_change'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.subscribe'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.unsubscribe'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.accept'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.reject'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.approve'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.suggestion_accept'?: boolean
  /** Whether the service acts on this event. */
  'comment_annotation.suggestion_reject'?: boolean
  /** Whether the service acts on this event. */
  'comment.add'?: boolean
  /** Whether the service acts on this event. */
  'comment.update'?: boolean
  /** Whether the service acts on this event. */
  'comment.delete'?: boolean
  /** Whether the service acts on this event. */
  'comment.reaction_add'?: boolean
  /** Whether the service acts on this event. */
  'comment.reaction_delete'?: boolean
  /** Whether the service acts on this event. */
  'huddle.create'?: boolean
  /** Whether the service acts on this event. */
  'huddle.join'?: boolean
  /** Whether the service acts on this event. */
  'crdt.update_data'?: boolean
  /** Whether the service acts on this event. */
  'recorder.done'?: boolean
  /** Whether the service acts on this event. */
  'message.attempt.exhausted'?: boolean
  /** Whether the service acts on this event. */
  'comment.newlyAdded'?: boolean
  /** Whether the service acts on this event. */
  'comment.assigned'?: boolean
  /** Whether the service acts on this event. */
  'comment.statusChanged'?: boolean
  /** Whether the service acts on this event. */
  'comment.priorityChanged'?: boolean
  /** Whether the service acts on this event. */
  'comment.customListChanged'?: boolean
  /** Whether the service acts on this event. */
  'comment.accessModeChanged'?: boolean
  /** Whether the service acts on this event. */
  'comment.subscribed'?: boolean
  /** Whether the service acts on this event. */
  'comment.unsubscribed'?: boolean
  /** Whether the service acts on this event. */
  'comment.accepted'?: boolean
  /** Whether the service acts on this event. */
  'comment.rejected'?: boolean
  /** Whether the service acts on this event. */
  'comment.approved'?: boolean
  /** Whether the service acts on this event. */
  'comment.suggestionAccepted'?: boolean
  /** Whether the service acts on this event. */
  'comment.suggestionRejected'?: boolean
  /** Whether the service acts on this event. */
  'comment.added'?: boolean
  /** Whether the service acts on this event. */
  'comment.updated'?: boolean
  /** Whether the service acts on this event. */
  'comment.deleted'?: boolean
  /** Whether the service acts on this event. */
  'comment.reactionAdded'?: boolean
  /** Whether the service acts on this event. */
  'comment.reactionDeleted'?: boolean
  /** Whether the service acts on this event. */
  'huddle.created'?: boolean
  /** Whether the service acts on this event. */
  'crdt.updateData'?: boolean
  /** The events of comments, by name. */
  comment?: CommentTriggers
  /** The events of huddles, by name. */
  huddle?: HuddleTriggers
  /** The events of editors, by name. */
  crdt?: CrdtTriggers
  /** The events of recordings, by name. */
  recorder?: RecorderTriggers
}

export interface CommentTriggers {
  /** Whether the service acts on this event. */
  newlyAdded?: boolean
  /** Whether the service acts on this event. */
  assigned?: boolean
  /** Whether the service acts on this event. */
  statusChanged?: boolean
  /** Whether the service acts on this event. */
  priorityChanged?: boolean
  /** Whether the service acts on this event. */
  customListChanged?: boolean
  /** Whether the service acts on this event. */
  accessModeChanged?: boolean
  /** Whether the service acts on this event. */
  subscribed?: boolean
  /** Whether the service acts on this event. */
  unsubscribed?: boolean
  /** Whether the service acts on this event. */
  accepted?: boolean
  /** Whether the service acts on this event. */
  rejected?: boolean
  /** Whether the service acts on this event. */
  approved?: boolean
  /** Whether the service acts on this event. */
  suggestionAccepted?: boolean
  /** Whether the service acts on this event. */
  suggestionRejected?: boolean
  /** Whether the service acts on this event. */
  added?: boolean
  /** Whether the service acts on this event. */
  updated?: boolean
  /** Whether the service acts on this event. */
  deleted?: boolean
  /** Whether the service acts on this event. */
  reactionAdded?: boolean
  /** Whether the service acts on this event. */
  reactionDeleted?: boolean
}

export interface HuddleTriggers {
  /** Whether the service acts on this event. */
  created?: boolean
  /** Whether the service acts on this event. */
  join?: boolean
}

export interface CrdtTriggers {
  /** Whether the service acts on this event. */
  updateData?: boolean
}

export interface RecorderTriggers {
  /** Whether the service acts on this event. */
  done?: boolean
}

export interface ApiKeysCreateInput {
  /** Email address of the owner. At most 320 characters. */
  ownerEmail: string
  /** Use a `testing` key for development. */
  type: KeyType
  /**
   * Display name of the API key. Default: derived from `ownerEmail`. At most 200 characters. Must not be
   * blank.
   */
  apiKeyName?: string
  /** Whether to create an auth token for the key. Default: true. */
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
   * The domains whose pages may use the API key, as URLs or hosts. Empty: every domain may. At most 100
   * items. Each: at most 2,000 characters.
   */
  allowedDomains?: string[]
  /** Whether to allow `localhost` and `127.0.0.1`. Default: true for a testing key. */
  addLocalHostToAllowedDomains?: boolean
  /** Whether emails are sent. Stored: the server does not send email yet. */
  useEmailService?: boolean
  /** Whether webhooks are called. Stored: the server does not call webhooks yet. */
  useWebhookService?: boolean
  /** Whether notifications can be added and read. Default: true. */
  useNotificationService?: boolean
  /** Whether the email service starts with the default triggers. Default: false. */
  setDefaultEmailTriggers?: boolean
  /** Whether the notification service starts with the default triggers. Default: false. */
  setDefaultNotificationTriggers?: boolean
  /** Whether users become members of the organizations that their token names when they connect. */
  requireAutoOrgUser?: boolean
  /** Whether comments can be private. */
  enablePrivateComments?: boolean
  /** Settings of the email service. Stored: the server does not send email yet. */
  emailServiceConfig?: EmailServiceConfigInput
  /** Settings of the webhook service. Stored: the server does not call webhooks yet. */
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
