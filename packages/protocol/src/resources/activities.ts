import Type from 'typebox'
import { longText } from '../base/fields.ts'
import { allOf, when } from '../base/conditions.ts'
import { ChosenId } from '../base/ids.ts'
import { choice, described, flag, jsonObject, jsonValue, mapOf, openObject, text } from '../base/schemas.ts'
import { Success } from './outcomes.ts'
import { UserInput } from './users.ts'

export const FeatureType = choice(
  ['comment', 'reaction', 'recorder', 'crdt', 'custom'],
  'The feature that the activity belongs to.',
)
export type FeatureType = Type.Static<typeof FeatureType>

export const ActionType = described(ChosenId, 'What happened, such as `comment.add`.')

const actionUser = 'The user who did it.'
const ActivityId = described(ChosenId, 'Id of the activity.')
const IsActivityResolverUsed = flag('True: your application provides the texts of the activity.')

export const ActivityChange = openObject(
  Type.Object({
    from: Type.Optional(jsonValue('The value before.')),
    to: Type.Optional(jsonValue('The value after.')),
  }),
)

/** The fields of an activity that an update replaces one by one. */
const activityContent = {
  changes: Type.Optional(mapOf(ActivityChange, 'The values that changed, by field.')),
  entityData: Type.Optional(jsonValue('The entity at that time, in the form of your application.')),
  entityTargetData: Type.Optional(
    jsonValue('The target of the entity at that time, in the form of your application.'),
  ),
  displayMessageTemplate: Type.Optional(
    longText('Text of the activity, with placeholders such as `{{actionUser.name}}`.'),
  ),
  displayMessageTemplateData: Type.Optional(jsonObject('Values for the placeholders of the text.')),
  actionIcon: Type.Optional(Type.String({ maxLength: 2000, description: 'URL or name of an icon.' })),
}

/** An activity in a request (spec 21.1). */
export const ActivityInput = Type.Object(
  {
    id: Type.Optional(
      described(ChosenId, 'Id of the activity. An existing activity is overwritten. Default: a new id.'),
    ),
    featureType: FeatureType,
    actionType: ActionType,
    actionUser: described(UserInput, actionUser),
    targetEntityId: Type.Optional(
      described(ChosenId, 'Id of what the activity is about, such as a thread. Required for `custom`.'),
    ),
    targetSubEntityId: Type.Optional(
      described(ChosenId, 'Id of the part of it that the activity is about, such as a comment.'),
    ),
    ...activityContent,
    isActivityResolverUsed: Type.Optional(IsActivityResolverUsed),
  },
  {
    'x-conditions': when('featureType', 'custom', allOf('targetEntityId')),
  },
)
export type ActivityInput = Type.Static<typeof ActivityInput>

export const ActivityUpdate = Type.Object({ id: ActivityId, ...activityContent })
export type ActivityUpdate = Type.Static<typeof ActivityUpdate>

export const NewActivities = Type.Object({
  ...Success.properties,
  ids: Type.Array(Type.String(), { description: 'Ids of the activities, in the order of the request.' }),
  message: text('The message of the answer.'),
})

/** The user of an activity in an answer: the fields that were sent. */
export const ActivityUser = openObject(Type.Object({ userId: text('Id of the user.') }))

export const ActivityMetadata = Type.Object({
  apiKey: text('Id of the API key.'),
  organizationId: text('Id of the organization.'),
  documentId: text('Id of the document. It may be deleted.'),
  folderId: Type.Optional(text('Id of the folder that the document is in now. Absent if it is in none.')),
})

/** An activity in an answer (spec 22.11). */
export const Activity = Type.Object({
  id: text('Id of the activity.'),
  featureType: FeatureType,
  actionType: ActionType,
  eventType: Type.Optional(text('The event that the server recorded as this activity.')),
  actionUser: described(ActivityUser, actionUser),
  targetEntityId: Type.Optional(text('Id of what the activity is about.')),
  targetSubEntityId: Type.Optional(text('Id of the part of it that the activity is about.')),
  ...activityContent,
  isActivityResolverUsed: Type.Optional(IsActivityResolverUsed),
  timestamp: Type.Integer({ description: 'When the activity was added, as Unix time in milliseconds.' }),
  immutable: flag('Whether the activity can be neither changed nor deleted.'),
  metadata: described(ActivityMetadata, 'Where the activity happened.'),
})
export type Activity = Type.Static<typeof Activity>
