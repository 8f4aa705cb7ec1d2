// Derived from the operation table by "npm run derive". Do not edit.
import type { WorkspaceOperations } from './workspace.ts'
import type { EmailOperations } from './email.ts'
import type { ApiKeysOperations } from './api-keys.ts'
import type { AuthTokensOperations } from './auth-tokens.ts'
import type { ApiKeyConfigOperations } from './api-key-config.ts'
import type { DomainsOperations } from './domains.ts'
import type { EmailConfigOperations } from './email-config.ts'
import type { WebhookConfigOperations } from './webhook-config.ts'
import type { AdvancedWebhookConfigOperations } from './advanced-webhook-config.ts'
import type { WebhookEndpointsOperations } from './webhook-endpoints.ts'
import type { DeliveriesOperations } from './deliveries.ts'
import type { NotificationServiceConfigOperations } from './notification-service-config.ts'
import type { ActivityConfigOperations } from './activity-config.ts'
import type { AuthOperations } from './auth.ts'
import type { PermissionsOperations } from './permissions.ts'
import type { PermissionProviderConfigOperations } from './permission-provider-config.ts'
import type { OrganizationsOperations } from './organizations.ts'
import type { FoldersOperations } from './folders.ts'
import type { DocumentsOperations } from './documents.ts'
import type { LocationsOperations } from './locations.ts'
import type { UsersOperations } from './users.ts'
import type { UserGroupsOperations } from './user-groups.ts'
import type { UserDataOperations } from './user-data.ts'
import type { PresenceOperations } from './presence.ts'
import type { LiveStateOperations } from './live-state.ts'
import type { CrdtOperations } from './crdt.ts'
import type { CrdtVersionsOperations } from './crdt-versions.ts'
import type { NotificationsOperations } from './notifications.ts'
import type { CommentAnnotationsOperations } from './comment-annotations.ts'
import type { CommentsOperations } from './comments.ts'
import type { EventsOperations } from './events.ts'
import type { ActivitiesOperations } from './activities.ts'

export type * from './workspace.ts'
export type * from './email.ts'
export type * from './api-keys.ts'
export type * from './auth-tokens.ts'
export type * from './api-key-config.ts'
export type * from './domains.ts'
export type * from './email-config.ts'
export type * from './webhook-config.ts'
export type * from './advanced-webhook-config.ts'
export type * from './webhook-endpoints.ts'
export type * from './deliveries.ts'
export type * from './notification-service-config.ts'
export type * from './activity-config.ts'
export type * from './auth.ts'
export type * from './permissions.ts'
export type * from './permission-provider-config.ts'
export type * from './organizations.ts'
export type * from './folders.ts'
export type * from './documents.ts'
export type * from './locations.ts'
export type * from './users.ts'
export type * from './user-groups.ts'
export type * from './user-data.ts'
export type * from './presence.ts'
export type * from './live-state.ts'
export type * from './crdt.ts'
export type * from './crdt-versions.ts'
export type * from './notifications.ts'
export type * from './comment-annotations.ts'
export type * from './comments.ts'
export type * from './events.ts'
export type * from './activities.ts'

/** Every operation of the interface, by family. */
export interface Operations {
  /** A workspace belongs to an owner and has API keys. Creating one gives you the first credentials. */
  readonly workspace: WorkspaceOperations
  /** Links by email, with which the owner of a workspace logs in to a console. */
  readonly email: EmailOperations
  /** Every record belongs to one API key. Two keys of a workspace share no data. */
  readonly apiKeys: ApiKeysOperations
  /** The secret that you send with an API key. */
  readonly authTokens: AuthTokensOperations
  /** The options of an API key. */
  readonly apiKeyConfig: ApiKeyConfigOperations
  /** The web domains whose pages may use an API key. An empty list allows every domain. */
  readonly domains: DomainsOperations
  /** Whether and how an API key sends emails about activity. */
  readonly emailConfig: EmailConfigOperations
  /** Two URLs of yours that the server calls when something happens. */
  readonly webhookConfig: WebhookConfigOperations
  /** Whether events are sent to the webhook endpoints of an API key, and how. */
  readonly advancedWebhookConfig: AdvancedWebhookConfigOperations
  /** URLs of yours that receive signed deliveries of the events that you choose. */
  readonly webhookEndpoints: WebhookEndpointsOperations
  /** The emails and webhooks of an API key: whether each has arrived, and sending it again. */
  readonly deliveries: DeliveriesOperations
  /** Which events notify users, and when the notifications are sent. */
  readonly notificationServiceConfig: NotificationServiceConfigOperations
  /** Whether and how an API key records activities. */
  readonly activityConfig: ActivityConfigOperations
  /** Signed tokens that identify a user and carry the permissions of the user. */
  readonly auth: AuthOperations
  /** What a user may do with organizations, folders and documents. */
  readonly permissions: PermissionsOperations
  /** An HTTP endpoint of yours that decides who may open documents. */
  readonly permissionProviderConfig: PermissionProviderConfigOperations
  /** The top of the tree: folders, documents and users belong to an organization. */
  readonly organizations: OrganizationsOperations
  /** Folders contain documents and other folders, and pass their access type on to them. */
  readonly folders: FoldersOperations
  /** What users edit together. Documents can be moved, disabled and migrated to another id. */
  readonly documents: DocumentsOperations
  /** Places inside a document, such as a page or a slide, at which comments and notifications are. */
  readonly locations: LocationsOperations
  /** The users of an organization, a folder or a document, with their roles. */
  readonly users: UsersOperations
  /** Named groups of users of an organization. */
  readonly userGroups: UserGroupsOperations
  /** Everything that is stored about a user: to export it, and to erase it. */
  readonly userData: UserDataOperations
  /** The users who are in a document right now. */
  readonly presence: PresenceOperations
  /** Small shared state of a document, sent to all clients that have the document open. */
  readonly liveState: LiveStateOperations
  /** The stored content of collaborative editors. */
  readonly crdt: CrdtOperations
  /** Saved versions of the content of an editor, to read and to restore. */
  readonly crdtVersions: CrdtVersionsOperations
  /** The inbox of users, and which notifications each user receives. */
  readonly notifications: NotificationsOperations
  /** Threads of comments in a document: where they are, who sees them, their status and assignment. */
  readonly commentAnnotations: CommentAnnotationsOperations
  /** The comments of a thread. */
  readonly comments: CommentsOperations
  /**
   * The log of all changes under an API key, in order, for backends that would rather pull than be called.
   */
  readonly events: EventsOperations
  /** A log of what happened in documents, for users to read. */
  readonly activities: ActivitiesOperations
}
