import type { Operation } from './base/operation.ts'
import { activities } from './operations/activities.ts'
import { activityConfig } from './operations/activity-config.ts'
import { apiKeyConfig } from './operations/api-key-config.ts'
import { apiKeys } from './operations/api-keys.ts'
import { authTokens } from './operations/auth-tokens.ts'
import { auth } from './operations/auth.ts'
import { commentAnnotations } from './operations/comment-annotations.ts'
import { comments } from './operations/comments.ts'
import { crdtVersions } from './operations/crdt-versions.ts'
import { crdt } from './operations/crdt.ts'
import { deliveries } from './operations/deliveries.ts'
import { documents } from './operations/documents.ts'
import { domains } from './operations/domains.ts'
import { emailConfig } from './operations/email-config.ts'
import { email } from './operations/email.ts'
import { events } from './operations/events.ts'
import { folders } from './operations/folders.ts'
import { liveState } from './operations/live-state.ts'
import { notificationServiceConfig } from './operations/notification-service-config.ts'
import { notifications } from './operations/notifications.ts'
import { organizations } from './operations/organizations.ts'
import { permissionProviderConfig } from './operations/permission-provider-config.ts'
import { permissions } from './operations/permissions.ts'
import { presence } from './operations/presence.ts'
import { locations } from './operations/locations.ts'
import { userData } from './operations/user-data.ts'
import { userGroups } from './operations/user-groups.ts'
import { users } from './operations/users.ts'
import { advancedWebhookConfig, webhookConfig } from './operations/webhook-config.ts'
import { webhookEndpoints } from './operations/webhook-endpoints.ts'
import { workspace } from './operations/workspace.ts'

/** Every operation of the interface, by family and verb, in the order of the specification. */
export const operations = {
  workspace,
  email,
  apiKeys,
  authTokens,
  apiKeyConfig,
  domains,
  emailConfig,
  webhookConfig,
  advancedWebhookConfig,
  webhookEndpoints,
  deliveries,
  notificationServiceConfig,
  activityConfig,
  auth,
  permissions,
  permissionProviderConfig,
  organizations,
  folders,
  documents,
  locations,
  users,
  userGroups,
  userData,
  presence,
  liveState,
  crdt,
  crdtVersions,
  notifications,
  commentAnnotations,
  comments,
  events,
  activities,
} satisfies Record<string, Record<string, Operation>>

export type Operations = typeof operations
export type Family = keyof Operations

export * from './errors.ts'
export * from './base/events.ts'
export { AccessRole, AccessType } from './base/fields.ts'
export {
  ApiKeyId,
  ChosenId,
  chosenIdRule,
  DocumentId,
  EditorId,
  FolderId,
  isChosenId,
  NewFolderId,
  NotificationId,
  OrganizationId,
  UserGroupId,
  UserId,
  VersionId,
} from './base/ids.ts'
export * from './base/operation.ts'
export * as webhookErrors from './operations/webhook-errors.ts'
export { maxBatchItems } from './base/schemas.ts'
export * from './resources/activities.ts'
export * from './resources/activity-service.ts'
export * from './resources/outcomes.ts'
export * from './resources/comment-annotations.ts'
export * from './resources/comments.ts'
export * from './resources/crdt.ts'
export * from './resources/editor-ranges.ts'
export * from './resources/deliveries.ts'
export * from './resources/documents.ts'
export * from './resources/events.ts'
export * from './resources/folders.ts'
export * from './resources/locations.ts'
export * from './resources/notification-service.ts'
export * from './resources/notifications.ts'
export * from './resources/organizations.ts'
export { CommentLocation } from './resources/places.ts'
export * from './resources/permission-provider.ts'
export * from './resources/permission-explanations.ts'
export * from './resources/permissions.ts'
export * from './resources/presence.ts'
export * from './resources/service-configs.ts'
export * from './resources/user-data.ts'
export * from './resources/user-groups.ts'
export * from './resources/user-tokens.ts'
export * from './resources/users.ts'
export * from './resources/webhook-endpoints.ts'
export * from './resources/workspaces.ts'
