import type { AllHandlers } from '../calls/call.ts'
import { activityHandlers } from './activities.ts'
import { activityConfigHandlers } from './activity-config.ts'
import { apiKeyConfigHandlers } from './api-key-config.ts'
import { apiKeyHandlers } from './api-keys.ts'
import { authTokenHandlers } from './auth-tokens.ts'
import { authHandlers } from './auth.ts'
import { annotationHandlers } from './comments/annotations.ts'
import { commentHandlers } from './comments/comments.ts'
import { crdtVersionHandlers } from './crdt-versions.ts'
import { crdtHandlers } from './crdt.ts'
import { deliveryHandlers } from './deliveries.ts'
import { documentHandlers } from './documents.ts'
import { domainHandlers } from './domains.ts'
import { emailConfigHandlers } from './email-config.ts'
import { emailHandlers } from './email.ts'
import { eventHandlers } from './events.ts'
import { folderHandlers } from './folders/folders.ts'
import { liveStateHandlers } from './live-state.ts'
import { notificationServiceConfigHandlers } from './notification-service-config.ts'
import { notificationHandlers } from './notifications/notifications.ts'
import { organizationHandlers } from './organizations.ts'
import { permissionProviderConfigHandlers } from './permission-provider-config.ts'
import { permissionHandlers } from './permissions/permissions.ts'
import { presenceHandlers } from './presence.ts'
import { locationHandlers } from './locations/locations.ts'
import { userDataHandlers } from './user-data/user-data.ts'
import { userGroupHandlers } from './user-groups.ts'
import { userHandlers } from './users.ts'
import { advancedWebhookConfigHandlers } from './webhooks/advanced-webhook-config.ts'
import { webhookConfigHandlers } from './webhooks/webhook-config.ts'
import { webhookEndpointHandlers } from './webhooks/webhook-endpoints.ts'
import { workspaceHandlers } from './workspace.ts'

/** The handler of every operation. A declared operation without a handler does not compile. */
export const handlers: AllHandlers = {
  workspace: workspaceHandlers,
  email: emailHandlers,
  apiKeys: apiKeyHandlers,
  authTokens: authTokenHandlers,
  apiKeyConfig: apiKeyConfigHandlers,
  domains: domainHandlers,
  emailConfig: emailConfigHandlers,
  webhookConfig: webhookConfigHandlers,
  advancedWebhookConfig: advancedWebhookConfigHandlers,
  webhookEndpoints: webhookEndpointHandlers,
  deliveries: deliveryHandlers,
  notificationServiceConfig: notificationServiceConfigHandlers,
  activityConfig: activityConfigHandlers,
  auth: authHandlers,
  permissions: permissionHandlers,
  permissionProviderConfig: permissionProviderConfigHandlers,
  organizations: organizationHandlers,
  folders: folderHandlers,
  documents: documentHandlers,
  locations: locationHandlers,
  users: userHandlers,
  userGroups: userGroupHandlers,
  userData: userDataHandlers,
  presence: presenceHandlers,
  liveState: liveStateHandlers,
  crdt: crdtHandlers,
  crdtVersions: crdtVersionHandlers,
  notifications: notificationHandlers,
  commentAnnotations: annotationHandlers,
  comments: commentHandlers,
  events: eventHandlers,
  activities: activityHandlers,
}
