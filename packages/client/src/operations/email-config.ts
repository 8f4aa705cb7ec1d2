// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'
import type { EmailServiceConfigInput, EmailServiceType } from './api-keys.ts'

export interface EmailConfig {
  /** Whether emails are sent. */
  useEmailService: boolean
  /** Settings of the email service. */
  emailServiceConfig: EmailServiceConfig
}

export interface EmailServiceConfig {
  /**
   * How emails are sent: `default` and `custom` use the mail settings of the server, `sendgrid` uses
   * SendGrid.
   */
  type: EmailServiceType
  /** API key of the mail provider, masked. Empty if none is set. */
  apiKey: string
  /** Sender address of emails. */
  fromEmail: string
  /** Company name of the sender. */
  fromCompany: string
  /** Id of the template for emails about comments, at the mail provider. */
  commentTemplateId: string
  /** Id of the template for emails about mentions, at the mail provider. */
  tagTemplateId: string
  /** The events that the email service acts on, by name. */
  triggers?: TriggersOutput
}

export interface TriggersOutput {
  /** Whether the service acts on the event `comment_annotation.add`. */
  'comment_annotation.add'?: boolean
  /** Whether the service acts on the event `comment_annotation.assign`. */
  'comment_annotation.assign'?: boolean
  /** Whether the service acts on the event `comment_annotation.status_change`. */
  'comment_annotation.status_change'?: boolean
  /** Whether the service acts on the event `comment_annotation.priority_change`. */
  'comment_annotation.priority_change'?: boolean
  /** Whether the service acts on the event `comment_annotation.custom_list_change`. */
  'comment_annotation.custom_list_change'?: boolean
  /** Whether the service acts on the event `comment_annotation.access_mode_change`. */
  'comment_annotation.access_mode_change'?: boolean
  /** Whether the service acts on the event `comment_annotation.subscribe`. */
  'comment_annotation.subscribe'?: boolean
  /** Whether the service acts on the event `comment_annotation.unsubscribe`. */
  'comment_annotation.unsubscribe'?: boolean
  /** Whether the service acts on the event `comment_annotation.accept`. */
  'comment_annotation.accept'?: boolean
  /** Whether the service acts on the event `comment_annotation.reject`. */
  'comment_annotation.reject'?: boolean
  /** Whether the service acts on the event `comment_annotation.approve`. */
  'comment_annotation.approve'?: boolean
  /** Whether the service acts on the event `comment_annotation.suggestion_accept`. */
  'comment_annotation.suggestion_accept'?: boolean
  /** Whether the service acts on the event `comment_annotation.suggestion_reject`. */
  'comment_annotation.suggestion_reject'?: boolean
  /** Whether the service acts on the event `comment.add`. */
  'comment.add'?: boolean
  /** Whether the service acts on the event `comment.update`. */
  'comment.update'?: boolean
  /** Whether the service acts on the event `comment.delete`. */
  'comment.delete'?: boolean
  /** Whether the service acts on the event `comment.reaction_add`. */
  'comment.reaction_add'?: boolean
  /** Whether the service acts on the event `comment.reaction_delete`. */
  'comment.reaction_delete'?: boolean
  /** Whether the service acts on the event `huddle.create`. */
  'huddle.create'?: boolean
  /** Whether the service acts on the event `huddle.join`. */
  'huddle.join'?: boolean
  /** Whether the service acts on the event `crdt.update_data`. */
  'crdt.update_data'?: boolean
  /** Whether the service acts on the event `recorder.done`. */
  'recorder.done'?: boolean
  /** Whether the service acts on the event `message.attempt.exhausted`. */
  'message.attempt.exhausted'?: boolean
}

export type EmailConfigGetInput = NoInput

export interface EmailConfigUpdateInput {
  /** Whether emails are sent. */
  useEmailService?: boolean
  /** Settings of the email service. */
  emailServiceConfig?: EmailServiceConfigInput
}

/** Whether and how an API key sends emails about activity. */
export interface EmailConfigOperations {
  /**
   * Reads the email settings of the API key. The API key of the mail provider is masked. `triggers` is
   * present once it was set.
   *
   * `POST /v2/workspace/emailconfig/get`
   */
  get(input?: EmailConfigGetInput, options?: CallOptions): Promise<Result<EmailConfig>>
  /**
   * Changes the email settings of the API key. Sent fields are merged into the stored ones. The first call
   * that enables the service enables the default triggers, unless this or an earlier call sends `triggers`:
   * then only the triggers that were sent as true are on. The API key of the mail provider is stored
   * encrypted. Sending back the masked key keeps the stored key, and an empty string removes it.
   *
   * `POST /v2/workspace/emailconfig/update`
   */
  update(input?: EmailConfigUpdateInput, options?: CallOptions): Promise<Result<null>>
}
