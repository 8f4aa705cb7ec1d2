import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { described } from '../base/schemas.ts'
import {
  ActivityConfig,
  activityServiceDescription,
  ActivityServiceConfigInput,
} from '../resources/activity-service.ts'
import { NoInput } from '../resources/outcomes.ts'

export const activityConfig = {
  get: operation({
    spec: '6.1',
    path: '/workspace/activityconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Activity Config',
    summary: 'Reads the settings of the activity log of the API key.',
    description: 'The answer has the stored settings. `isEnabled` is always present.',
    input: NoInput,
    output: ActivityConfig,
    message: 'Activity logs configuration retrieved successfully.',
    example: { input: {}, output: { activityServiceConfig: { isEnabled: false } } },
  }),
  update: operation({
    spec: '6.2',
    path: '/workspace/activityconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Activity Config',
    summary: 'Changes the settings of the activity log of the API key.',
    description:
      'Sent fields are merged into the stored ones. When the log is enabled, settings that were never sent get their defaults: all comment events are on, new activities are immutable, and `enabledTime` is now.',
    input: Type.Object({
      activityServiceConfig: described(ActivityServiceConfigInput, activityServiceDescription),
    }),
    output: ActivityConfig,
    message: 'Activity logs configuration updated successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'At least one field must be provided for update' }],
    example: {
      input: {
        activityServiceConfig: {
          isEnabled: true,
          immutable: false,
          triggers: { comment: { deleted: false } },
        },
      },
      output: {
        activityServiceConfig: {
          isEnabled: true,
          immutable: false,
          enabledTime: 1717520000000,
          triggers: { comment: { newlyAdded: true, added: true, deleted: false } },
        },
      },
    },
  }),
}
