import Type from 'typebox'
import { idBatch, idFilter, OrganizationId, requiredIdFilter, UserId } from '../base/ids.ts'
import { unless, withConditions } from '../base/conditions.ts'
import { operation } from '../base/operation.ts'
import { described, flag, mapOf, v2Only } from '../base/schemas.ts'
import {
  maxChannels,
  NotificationConfig,
  NotificationConfigOutcome,
  NotificationPreferences,
} from '../resources/notifications.ts'

const NewPreferences = withConditions(NotificationPreferences, {
  minProperties: 1,
  maxProperties: maxChannels,
})

const someDocuments = { properties: { documentIds: { minItems: 1 } }, required: ['documentIds'] }

/** The operations of the family `notifications` on the preferences of users. */
export const notificationConfigs = {
  getConfig: operation({
    spec: '18.5',
    path: '/notifications/config/get',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'read',
    requires: 'useNotificationService',
    title: 'Get Config',
    summary: 'Reads the notification preferences of a user.',
    description:
      'The answer has one entry per document: the preferences for the document, else the default of the organization, else `ALL`. With `getOrganizationConfig`, it has only the entry of the organization.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        userId: UserId,
        documentIds: Type.Optional(
          idFilter('Ids of the documents. Required unless `getOrganizationConfig` is true.'),
        ),
        getOrganizationConfig: v2Only(
          flag('True: reads the default of the organization instead of the documents.'),
        ),
      },
      {
        'x-conditions': unless('getOrganizationConfig', true, someDocuments),
        'x-v1-conditions': someDocuments,
      },
    ),
    output: Type.Array(NotificationConfig),
    message: 'User config fetched successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'documentIds is required.' }],
    example: {
      input: { organizationId: 'org_1', userId: 'user_1', documentIds: ['doc_1'] },
      output: [
        {
          config: { inbox: 'ALL', email: 'ALL' },
          metadata: { organizationId: 'org_1', apiKey: 'key_1', documentId: 'doc_1', userId: 'user_1' },
        },
      ],
    },
  }),
  setConfig: operation({
    spec: '18.6',
    path: '/notifications/config/set',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    requires: 'useNotificationService',
    title: 'Set Config',
    summary: 'Sets the notification preferences of users.',
    description:
      '`ALL`: the user gets all notifications of the document. `MINE`: only those that involve the user. `NONE`: none. Under v2, without `documentIds`, the preferences are the default for every document of the organization. Channels that are not sent keep their value.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        userIds: idBatch('Ids of the users.'),
        documentIds: Type.Optional(
          requiredIdFilter(
            'Ids of the documents. Without them, v2 sets the default of the organization, for documents without their own preferences.',
          ),
        ),
        config: described(NewPreferences, 'The preferences to set, by channel. At most 20 channels.'),
      },
      { 'x-v1-conditions': { required: ['documentIds'] } },
    ),
    output: mapOf(NotificationConfigOutcome),
    message: 'User config set successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'documentIds is required.' },
      { status: 'INVALID_ARGUMENT', message: 'config must not be empty.' },
      { status: 'INVALID_ARGUMENT', message: 'config must have at most 20 channels.' },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        userIds: ['user_1'],
        documentIds: ['doc_1'],
        config: { email: 'NONE' },
      },
      output: {
        user_1: {
          success: true,
          userId: 'user_1',
          documentId: 'doc_1',
          message: 'User config set successfully.',
        },
      },
    },
  }),
}
