import Type from 'typebox'
import { defaultTriggers, toGrouped } from '../base/events.ts'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import {
  NotificationServiceConfig,
  notificationServiceDescription,
  NotificationServiceSettings,
} from '../resources/notification-service.ts'
import { NoInput } from '../resources/outcomes.ts'
import { UseNotificationService } from '../resources/workspaces.ts'

export const notificationServiceConfig = {
  get: operation({
    spec: '5.1',
    path: '/workspace/notificationconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Notification Config',
    summary: 'Reads the settings of the notification service of the API key.',
    description:
      'The answer has the settings that apply, defaults included. `useNotificationService` is the option of the API key with this name.',
    input: NoInput,
    output: NotificationServiceSettings,
    message: 'Notification configuration retrieved successfully.',
    example: {
      input: {},
      output: {
        useNotificationService: true,
        notificationServiceConfig: {
          triggers: toGrouped(defaultTriggers.notification),
          delayConfig: { isEnabled: false, delaySeconds: 10 },
          batchConfig: {
            document: { isEnabled: false, batchWindowSeconds: 10, maxActivities: 2 },
            user: { isEnabled: false, batchWindowSeconds: 10, maxActivities: 2 },
          },
        },
      },
    },
  }),
  update: operation({
    spec: '5.2',
    path: '/workspace/notificationconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Notification Config',
    summary: 'Changes the settings of the notification service of the API key.',
    description:
      'Sent fields are merged into the stored ones, at every level. Triggers that were never sent have their defaults. The answer has the stored settings, without the defaults of those that were never set.',
    input: Type.Object(
      {
        useNotificationService: Type.Optional(UseNotificationService),
        notificationServiceConfig: Type.Optional(
          described(NotificationServiceConfig, notificationServiceDescription),
        ),
      },
      { 'x-conditions': { minProperties: 1 } },
    ),
    output: NotificationServiceSettings,
    message: 'Notification configuration updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of useNotificationService or notificationServiceConfig must be provided',
      },
    ],
    example: {
      input: { notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 30 } } },
      output: {
        useNotificationService: true,
        notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 30 } },
      },
    },
  }),
}
