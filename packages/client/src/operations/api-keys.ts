// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { ApiKeySummary } from './workspace.ts'

export interface EmailServiceConfigInput {
  /** `default` and `custom` use the mail settings of the server, `sendgrid` that provider. */
  type?: 'default' | 'sendgrid' | 'custom'
  /** Key of the mail provider. At most 1,000 characters. */
  apiKey?: string
  /** The address that mails come from. At most 320 characters. Must be one line. */
  fromEmail?: string
  /** The company that mails name as their sender. At most 200 characters. Must be one line. */
  fromCompany?: string
  /** Template of mails about comments, at the mail provider. At most 200 characters. Must be one line. */
  commentTemplateId?: string
  /** Template of mails about mentions, at the mail provider. At most 200 characters. Must be one line. */
  tagTemplateId?: string
  /** Which events the service acts on, by the name of the event. */
  triggers?: TriggersInput
}

export interface WebhookServiceConfigInput {
  /** Secret that your receiver checks. At most 1,000 characters. Must be one line. */
  authToken?: string
  /**
   * Address for events as they happen. Stored; nothing is sent yet. At most 2,000 characters. Must be one
   * line.
   */
  rawNotificationUrl?: string
  /**
   * Address for processed events. Stored; nothing is sent yet. At most 2,000 characters. Must be one line.
   */
  processedNotificationUrl?: string
  /** Setting of the webhook service. Stored; nothing is sent yet. */
  encodeData?: boolean
  /** Setting of the webhook service. Stored; nothing is sent yet. */
  encryptData?: boolean
  /**
   * Key that encrypts what the webhook service sends. Stored; nothing is sent yet. At most 10,000 characters.
   */
  publicKey?: string
  /** Setting of the webhook service. Stored; nothing is sent yet. */
  enableDataProtection?: boolean
  /** Which events the service acts on, by the name of the event. */
  triggers?: TriggersInput
}

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
  comment?: {
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
  /** The events of huddles, by name. */
  huddle?: {
    /** Whether the service acts on this event. */
    created?: boolean
    /** Whether the service acts on this event. */
    join?: boolean
  }
  /** The events of editors, by name. */
  crdt?: {
    /** Whether the service acts on this event. */
    updateData?: boolean
  }
  /** The events of recordings, by name. */
  recorder?: {
    /** Whether the service acts on this event. */
    done?: boolean
  }
}

export interface ApiKeysCreateInput {
  /** Email address of the owner. At most 320 characters. */
  ownerEmail: string
  /** A testing key is for development. */
  type: 'testing' | 'production'
  /** Name of the API key, for people. At most 200 characters. Must not be blank. */
  apiKeyName?: string
  /** Whether the key gets an auth token. Default: true. */
  createAuthToken?: boolean
  /**
   * Region of the data. Stored for reference; it has no effect. At most 100 characters. Must consist of
   * lower-case letters, digits and "-".
   */
  persistenceDBRegion?: string
  /**
   * Region of live data. Stored for reference; it has no effect. At most 100 characters. Must consist of
   * lower-case letters, digits and "-".
   */
  realtimeDBRegion?: string
  /**
   * The domains whose pages may use the API key. Empty: all may. At most 100 items. Each: at most 2,000
   * characters.
   */
  allowedDomains?: string[]
  /** Whether pages at `localhost` and `127.0.0.1` may use the key. Default: true for a testing key. */
  addLocalHostToAllowedDomains?: boolean
  /** Whether emails are sent. Stored; nothing is sent yet. */
  useEmailService?: boolean
  /** Whether webhooks are called. Stored; nothing is sent yet. */
  useWebhookService?: boolean
  /** Whether notifications may be added and read. */
  useNotificationService?: boolean
  /** Whether the email service starts with the default events. */
  setDefaultEmailTriggers?: boolean
  /** Whether the notification service starts with the default events. */
  setDefaultNotificationTriggers?: boolean
  /** Whether users who sign in become members of the organizations that their token names. */
  requireAutoOrgUser?: boolean
  /** Whether comments may be private. */
  enablePrivateComments?: boolean
  /** How the email service sends. Settings are stored; nothing is sent yet. */
  emailServiceConfig?: EmailServiceConfigInput
  /** How the webhook service sends. Settings are stored; nothing is sent yet. */
  webhookServiceConfig?: WebhookServiceConfigInput
}

export interface ApiKeysCreateOutput {
  /** Id of the API key. */
  apiKey: string
}

export interface ApiKeysUpdateInput {
  /** Id of the API key. */
  apiKey: string
  /** Name of the API key, for people. At most 200 characters. Must not be blank. */
  apiKeyName: string
}

export interface ApiKeysGetInput {
  /** Ids of the API keys to read. Default: all. At most 100 items. */
  apiKeys?: string[]
  /** How many are read at most. 1 to 100. */
  pageSize?: number
  /** `nextPageToken` of the answer before, to read the next page. At most 4,096 characters. */
  pageToken?: string
}

/** Every record belongs to one API key; two keys of a workspace share nothing. */
export interface ApiKeysOperations {
  /**
   * Creates an API key in the workspace. Read its auth token with Get Auth Tokens. A testing key allows
   * `localhost` and `127.0.0.1` unless told otherwise. Regions are kept for reference and have no effect.
   * `defaultDocumentAccessType` is that of the server (`DEFAULT_DOCUMENT_ACCESS`) until Update API Key Config
   * changes it.
   *
   * `POST /v2/workspace/apikey/create`
   */
  create(input: ApiKeysCreateInput, options?: CallOptions): Promise<Result<ApiKeysCreateOutput>>
  /**
   * Renames an API key.
   *
   * `POST /v2/workspace/apikey/update`
   */
  update(input: ApiKeysUpdateInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Reads the API keys of the workspace, all or by id. Ids that do not exist, or are of another workspace,
   * are left out.
   *
   * `POST /v2/workspace/apikeys/get`
   */
  get(input?: ApiKeysGetInput, options?: CallOptions): Promise<Result<ApiKeySummary[]>>
}
