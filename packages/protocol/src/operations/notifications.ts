import Type from 'typebox'
import { CreateDocument, CreateOrganization, PageSize, PageToken } from '../base/fields.ts'
import { ChosenId, DocumentId, idBatch, idFilter, NotificationId, OrganizationId } from '../base/ids.ts'
import { allOf, anyOf, unless, withConditions } from '../base/conditions.ts'
import { operation } from '../base/operation.ts'
import { batch, choice, described, flag, maxBatchItems, v2Only } from '../base/schemas.ts'
import {
  IsNotificationResolverUsed,
  Location,
  LocationId,
  NewNotification,
  Notification,
  NotificationChange,
  notificationContent,
  NotificationContext,
  NotificationSource,
  NotificationUser,
} from '../resources/notifications.ts'
import { Outcomes } from '../resources/outcomes.ts'
import { UserInput } from '../resources/users.ts'
import { notificationConfigs } from './notification-configs.ts'

/** A notification must match all filters that are sent. */
const filters = {
  documentId: Type.Optional(described(ChosenId, 'Only notifications of this document.')),
  locationId: Type.Optional(
    described(
      LocationId,
      'Only notifications of this location: its id, or the number that notifications carry for it.',
    ),
  ),
  userId: Type.Optional(described(ChosenId, 'Only notifications for this user.')),
}

/** A user who gets a notification. */
const NotifiedUser = withConditions(NotificationUser, anyOf('userId', 'email'))

const texts = allOf('displayHeadlineMessageTemplate', 'displayBodyMessage')
/** Somebody is notified: all users, or those in the list. */
const recipients = {
  not: {
    properties: { notifyAll: { const: false }, notifyUsers: { maxItems: 0 } },
    required: ['notifyAll', 'notifyUsers'],
  },
}

const changes = 'One change, or a list of changes.'

const notification = {
  displayHeadlineMessageTemplate: '{actionUser} finished {task}',
  displayHeadlineMessageTemplateData: { actionUser: { userId: 'user_1', name: 'Ada' }, task: 'the draft' },
  displayBodyMessage: 'The draft is ready for review.',
}

export const notifications = {
  add: operation({
    spec: '18.1',
    path: '/notifications/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    requires: 'useNotificationService',
    title: 'Add Notifications',
    summary: 'Notifies users about an event in a document.',
    description:
      'The users in `notifyUsers` get the notification in their personal list. All users of the organization are notified too, unless `notifyAll` is `false`. Users whose inbox preference is `NONE` are skipped. A notification with the same `notificationId` is overwritten.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        documentId: DocumentId,
        createOrganization: Type.Optional(CreateOrganization),
        createDocument: Type.Optional(CreateDocument),
        actionUser: described(UserInput, 'The user who caused the notification.'),
        ...notificationContent,
        displayHeadlineMessageTemplate: described(
          notificationContent.displayHeadlineMessageTemplate,
          'Headline of the notification, with placeholders such as `{actionUser}`. Required unless `isNotificationResolverUsed` is true.',
        ),
        displayBodyMessage: described(
          notificationContent.displayBodyMessage,
          'Text of the notification. Required unless `isNotificationResolverUsed` is true.',
        ),
        notifyUsers: Type.Array(NotifiedUser, {
          maxItems: maxBatchItems,
          description: 'Users who get the notification in their personal list, by id or email address.',
        }),
        notifyAll: Type.Optional(flag('Whether all users of the organization are notified. Default: true.')),
        notificationId: Type.Optional(
          described(
            NotificationId,
            'Id of the notification. An existing notification is overwritten. Default: a new id.',
          ),
        ),
        notificationSource: v2Only(NotificationSource),
        verifyUserPermissions: v2Only(
          flag('True: only users who can read the document are notified. Default: false.'),
        ),
        isNotificationResolverUsed: v2Only(IsNotificationResolverUsed),
        context: v2Only(
          described(NotificationContext, 'Data for your notification resolver. Stored as sent.'),
        ),
        locationId: Type.Optional(LocationId),
        location: Type.Optional(Location),
      },
      {
        'x-conditions': { ...unless('isNotificationResolverUsed', true, texts), ...recipients },
        'x-v1-conditions': { ...texts, ...recipients },
      },
    ),
    output: NewNotification,
    message: 'Notification added successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'displayHeadlineMessageTemplate is required.' },
      { status: 'INVALID_ARGUMENT', message: 'displayBodyMessage is required.' },
      { status: 'INVALID_ARGUMENT', message: 'location must have an id or a locationName.' },
      { status: 'INVALID_ARGUMENT', message: 'notifyUsers must not be empty.' },
      { status: 'INVALID_ARGUMENT', message: 'notifyUsers[0] must have a userId or an email.' },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        documentId: 'doc_1',
        actionUser: { userId: 'user_1', name: 'Ada' },
        ...notification,
        notifyUsers: [{ userId: 'user_2', email: 'grace@example.com' }],
        notifyAll: false,
      },
      output: { success: true, id: '5471488635936205', message: 'Notification added successfully.' },
    },
  }),
  get: operation({
    spec: '18.2',
    path: '/notifications/get',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Notifications',
    summary: 'Reads the notifications of a document or of a user.',
    description:
      'With `userId`, the answer has only notifications for that user, with `isUnread` and `forYou`. v2 requires `documentId` or `userId`. v1 requires no filter, has no pages and returns up to 10,000 notifications. With a user token, the answer is the inbox of that user.',
    input: Type.Object({
      organizationId: OrganizationId,
      ...filters,
      notificationIds: Type.Optional(idFilter('Only notifications with these ids.')),
      order: v2Only(choice(['asc', 'desc'], 'Order by time. Default: `desc`, newest first.')),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Array(Notification),
    paging: ['pageToken', 'nextPageToken'],
    message: 'Notification(s) retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Either documentId or userId is required.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
    ],
    example: {
      input: { organizationId: 'org_1', userId: 'user_2' },
      output: [
        {
          id: '5471488635936205',
          notificationSource: 'custom',
          actionUser: { userId: 'user_1', name: 'Ada' },
          ...notification,
          notifyUsers: { '5d7ef4a9b7c0a5e2c9d4f8b1a6e3d2c0': true },
          notifyUsersByUserId: { '3c9683017f9e4bf33d0fbedd26bf143f': true },
          metadata: {
            apiKey: 'key_1',
            organizationId: 'org_1',
            documentId: 'doc_1',
            documentMetadata: { documentName: 'Draft' },
            organizationMetadata: { organizationName: 'Acme' },
          },
          timestamp: 1738695077691,
          isUnread: true,
          forYou: true,
        },
      ],
    },
  }),
  update: operation({
    spec: '18.3',
    path: '/notifications/update',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Update Notifications',
    summary: 'Changes notifications and marks them as read.',
    description:
      'A sent field replaces the stored one. `readByUserIds` marks the notification as read for these users and removes it from their personal lists, unless `persistReadForUsers` is `true`. A notification that does not match every filter is not found. With a user token, a user can only mark own notifications as read.',
    input: Type.Object({
      organizationId: OrganizationId,
      ...filters,
      verifyUserPermissions: v2Only(
        flag('True: recipients who cannot read the document are removed. Default: false.'),
      ),
      notifications: Type.Union([NotificationChange, batch(NotificationChange, changes)], {
        description: changes,
      }),
    }),
    output: Outcomes,
    message: 'Notification(s) updated successfully.',
    example: {
      input: {
        organizationId: 'org_1',
        userId: 'user_2',
        notifications: [
          { id: '5471488635936205', readByUserIds: ['user_2'], persistReadForUsers: true },
          { id: '9082713456019283', displayBodyMessage: 'Done.' },
        ],
      },
      output: {
        '5471488635936205': { success: true, message: 'Notification updated.' },
        '9082713456019283': { success: false, message: 'Failed to update notification.' },
      },
    },
  }),
  delete: operation({
    spec: '18.4',
    path: '/notifications/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Notifications',
    summary: 'Deletes the notifications that match every filter.',
    description:
      'With `userId`, the notifications are removed only for that user, and deleted when no recipient is left. The answer has one outcome per sent id, or, without ids, one per notification that was found.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        ...filters,
        notificationIds: Type.Optional(idBatch('Only notifications with these ids.')),
      },
      { 'x-conditions': anyOf('documentId', 'userId', 'notificationIds') },
    ),
    output: Outcomes,
    message: 'Notification(s) deleted successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of documentId, userId or notificationIds is required.',
      },
    ],
    example: {
      input: { organizationId: 'org_1', notificationIds: ['5471488635936205', '9082713456019283'] },
      output: {
        '5471488635936205': { success: true, message: 'Notification deleted.' },
        '9082713456019283': { success: false, message: 'Failed to delete notification.' },
      },
    },
  }),
  ...notificationConfigs,
}
