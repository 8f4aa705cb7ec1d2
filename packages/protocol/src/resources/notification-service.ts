import Type from 'typebox'
import type { GroupedTriggers } from '../base/events.ts'
import { closedObject, described, flag } from '../base/schemas.ts'
import { CommentTriggers, HuddleTriggers } from './service-configs.ts'
import { UseNotificationService } from './workspaces.ts'

const integer = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })

/** The triggers of the notification service, by group (spec 24.3). */
export const NotificationTriggers = Type.Unsafe<Pick<GroupedTriggers, 'comment' | 'huddle'>>(
  closedObject({ comment: CommentTriggers, huddle: HuddleTriggers }),
)

export const NotificationDelay = Type.Object({
  isEnabled: Type.Optional(flag('Whether notifications are delayed. Default: false.')),
  delaySeconds: Type.Optional(
    integer(10, 15_552_000, 'How many seconds a notification is held back. Default: 10.'),
  ),
})

export const NotificationBatch = Type.Object({
  isEnabled: Type.Optional(flag('Whether notifications are collected and sent together. Default: false.')),
  batchWindowSeconds: Type.Optional(
    integer(10, 604_800, 'How many seconds notifications are collected. Default: 10.'),
  ),
  maxActivities: Type.Optional(
    integer(2, 50, 'Once this many notifications are collected, they are sent. Default: 2.'),
  ),
})

export const NotificationBatches = Type.Object({
  document: Type.Optional(described(NotificationBatch, 'Collects the notifications about one document.')),
  user: Type.Optional(described(NotificationBatch, 'Collects the notifications that one user causes.')),
})

/** The settings of the notification service. Get returns all fields, Update those that are stored (spec 5.2). */
export const NotificationServiceConfig = Type.Object({
  triggers: Type.Optional(
    described(NotificationTriggers, 'The events that the notification service acts on, by group and name.'),
  ),
  delayConfig: Type.Optional(
    described(
      NotificationDelay,
      'How long notifications wait. A user who has viewed the annotation by then is not notified.',
    ),
  ),
  batchConfig: Type.Optional(
    described(
      NotificationBatches,
      'Which notifications are collected and delivered together, after the delay. A notification in two batches is delivered with the one that ends first.',
    ),
  ),
})
export type NotificationServiceConfig = Type.Static<typeof NotificationServiceConfig>

export const notificationServiceDescription = 'Settings of the notification service.'

export const NotificationServiceSettings = Type.Object({
  useNotificationService: UseNotificationService,
  notificationServiceConfig: described(NotificationServiceConfig, notificationServiceDescription),
})
