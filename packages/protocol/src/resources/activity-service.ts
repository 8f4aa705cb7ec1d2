import Type from 'typebox'
import type { GroupedTriggers } from '../base/events.ts'
import { closedObject, described, flag } from '../base/schemas.ts'
import { CommentTriggers } from './service-configs.ts'

/** The triggers of the activity log, by group (spec 24.3). */
export const ActivityTriggers = Type.Unsafe<Pick<GroupedTriggers, 'comment'>>(
  closedObject({ comment: CommentTriggers }),
)

const isEnabled = flag('Whether activities are recorded.')

const settings = {
  immutable: Type.Optional(
    flag('Whether new activities are immutable: they can be neither changed nor deleted.'),
  ),
  enabledTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'When the log was first enabled, as Unix time in milliseconds.',
    }),
  ),
  triggers: Type.Optional(
    described(ActivityTriggers, 'The events that the server records as activities, by group and name.'),
  ),
}

export const ActivityServiceConfigInput = Type.Object(
  { isEnabled: Type.Optional(isEnabled), ...settings },
  { 'x-conditions': { minProperties: 1 } },
)
export type ActivityServiceConfigInput = Type.Static<typeof ActivityServiceConfigInput>

export const ActivityServiceConfig = Type.Object({ isEnabled, ...settings })
export type ActivityServiceConfig = Type.Static<typeof ActivityServiceConfig>

export const activityServiceDescription = 'Settings of the activity log.'

export const ActivityConfig = Type.Object({
  activityServiceConfig: described(ActivityServiceConfig, activityServiceDescription),
})
