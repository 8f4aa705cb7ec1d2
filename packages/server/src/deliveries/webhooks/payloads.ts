import { groupedNames, splitGroupedName } from '@plenum/protocol'
import type { WebhookData } from './webhook-data.ts'

/** The page of the annotation. Receivers may expect the field. */
const pageInfoOf = ({ commentAnnotation }: WebhookData) => commentAnnotation?.pageInfo ?? {}

/** The group and the name of an event: `comment.newlyAdded` → `['comment', 'newlyAdded']`. */
function groupedNameOf({ event }: WebhookData) {
  const grouped = groupedNames[event]
  if (grouped === null) throw new Error(`There are no webhooks about ${event}.`)
  return splitGroupedName(grouped)
}

/** The body for an endpoint of advanced webhooks (spec 24.6). */
export function advancedPayload(data: WebhookData) {
  const [source, groupedName] = groupedNameOf(data)
  const { event, platform, webhookId, metadata, accessDeniedUsers: _, isShortened, ...rest } = data
  const { usersOrganizationNotificationsConfig, usersDocumentNotificationsConfig, ...shown } = rest
  const { apiKey, document, organization } = metadata
  return {
    event,
    actionType: source === 'crdt' ? groupedName : event.slice(event.lastIndexOf('.') + 1),
    source,
    platform,
    webhookId,
    data: { ...shown, metadata: { apiKey, document, organization, pageInfo: pageInfoOf(data) } },
    ...(usersOrganizationNotificationsConfig && { usersOrganizationNotificationsConfig }),
    ...(usersDocumentNotificationsConfig && { usersDocumentNotificationsConfig }),
    ...(isShortened && { isShortened }),
  }
}

/**
 * The body for a basic webhook (spec 24.5). A processed one also says what the involved users prefer, and which of them may
 * not read the document.
 */
export function basicPayload(data: WebhookData, kind: 'raw' | 'processed') {
  const [notificationSource, actionType] = groupedNameOf(data)
  const { event: _, platform, webhookId, metadata, accessDeniedUsers, ...rest } = data
  const { usersOrganizationNotificationsConfig, usersDocumentNotificationsConfig, ...shown } = rest
  const { apiKey, organizationId, documentId, document, organization } = metadata
  const { documentName } = document
  return {
    webhookId,
    actionType,
    notificationSource,
    platform,
    ...shown,
    metadata: {
      apiKey,
      documentId,
      ...(documentName !== undefined && { documentName }),
      organizationId,
      clientDocumentId: documentId,
      clientOrganizationId: organizationId,
      pageInfo: pageInfoOf(data),
      documentMetadata: document,
      organizationMetadata: organization,
    },
    ...(kind === 'processed' && {
      ...(usersOrganizationNotificationsConfig && { usersOrganizationNotificationsConfig }),
      ...(usersDocumentNotificationsConfig && { usersDocumentNotificationsConfig }),
      accessDeniedUsers,
    }),
  }
}
