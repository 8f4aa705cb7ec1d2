import Type from 'typebox'
import { PageSize, PageToken } from '../base/fields.ts'
import { ChosenId, DocumentId, idBatch, idFilter, OrganizationId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, choice, described, maxFilterIds } from '../base/schemas.ts'
import {
  Activity,
  ActivityInput,
  ActivityUpdate,
  FeatureType,
  NewActivities,
} from '../resources/activities.ts'
import { Outcomes } from '../resources/outcomes.ts'

const filters = {
  documentId: Type.Optional(described(ChosenId, 'Only activities of this document.')),
  targetEntityId: Type.Optional(described(ChosenId, 'Only activities about this entity.')),
}

const activity = {
  id: 'activity_1',
  featureType: 'custom' as const,
  actionType: 'task.finish',
  actionUser: { userId: 'user_1', name: 'Ada' },
  targetEntityId: 'task_1',
  changes: { status: { from: 'open', to: 'done' } },
  displayMessageTemplate: '{{actionUser.name}} finished {{task}}',
  displayMessageTemplateData: { task: 'the draft' },
}

export const activities = {
  add: operation({
    spec: '21.1',
    path: '/activities/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Activities',
    summary: 'Adds activities to the log of a document.',
    description:
      'The log must be enabled with Update Activity Config. The organization, the document and the users are created if they do not exist. An activity with an existing id is overwritten and keeps its time; if it is immutable, the call fails and changes nothing.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      activities: batch(ActivityInput, 'The activities to add.'),
    }),
    output: NewActivities,
    message: 'Activity(s) added successfully.',
    errors: [
      { status: 'FAILED_PRECONDITION', message: 'Activity logs are not enabled for this workspace.' },
      { status: 'FAILED_PRECONDITION', message: 'Activity is immutable.' },
      { status: 'INVALID_ARGUMENT', message: 'activities[0].targetEntityId is required.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1', activities: [activity] },
      output: { success: true, ids: ['activity_1'], message: 'Activity(s) added successfully.' },
    },
  }),
  get: operation({
    spec: '21.2',
    path: '/activities/get',
    versions: ['v2'],
    access: 'user',
    effect: 'read',
    title: 'Get Activities',
    summary: 'Reads the activities of an organization that match every filter.',
    description:
      'With a user token, `documentId` is required, and activities about annotations that the user may not see are left out.',
    input: Type.Object({
      organizationId: OrganizationId,
      ...filters,
      userId: Type.Optional(described(ChosenId, 'Only activities of this user.')),
      featureTypes: Type.Optional(
        Type.Array(FeatureType, {
          maxItems: maxFilterIds,
          description: 'Only activities of these features.',
        }),
      ),
      actionTypes: Type.Optional(idFilter('Only activities with these values of `actionType`.')),
      activityIds: Type.Optional(idFilter('Only activities with these ids.')),
      order: Type.Optional(choice(['asc', 'desc'], 'Order by time. Default: `desc`, newest first.')),
      pageSize: Type.Optional(PageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(Activity),
    paging: ['pageToken', 'nextPageToken'],
    message: 'Activity(s) retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      { status: 'INVALID_ARGUMENT', message: 'documentId is required.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1' },
      output: [
        {
          ...activity,
          timestamp: 1738695077691,
          immutable: false,
          metadata: {
            apiKey: 'key_1',
            organizationId: 'org_1',
            documentId: 'doc_1',
            folderId: 'folder_1',
          },
        },
      ],
    },
  }),
  update: operation({
    spec: '21.3',
    path: '/activities/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Activities',
    summary: 'Changes activities that are not immutable.',
    description: 'A sent field replaces the stored one.',
    input: Type.Object({
      organizationId: OrganizationId,
      activities: batch(ActivityUpdate, 'The changes, one per activity.'),
    }),
    output: Outcomes,
    message: 'Activity(s) updated successfully.',
    example: {
      input: {
        organizationId: 'org_1',
        activities: [
          { id: 'activity_1', displayMessageTemplateData: { task: 'the plan' } },
          { id: 'activity_2', actionIcon: 'check' },
        ],
      },
      output: {
        activity_1: { success: true, message: 'Activity updated.' },
        activity_2: { success: false, message: 'Failed to update activity.' },
      },
    },
  }),
  delete: operation({
    spec: '21.4',
    path: '/activities/delete',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Activities',
    summary: 'Deletes the activities that match every filter and are not immutable.',
    description:
      'The answer has one outcome per sent id, or, without ids, one per activity that was deleted.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        ...filters,
        activityIds: Type.Optional(idBatch('Only activities with these ids.')),
      },
      { 'x-conditions': { minProperties: 2 } },
    ),
    output: Outcomes,
    message: 'Activity(s) deleted successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of documentId, targetEntityId, or activityIds must be provided.',
      },
    ],
    example: {
      input: { organizationId: 'org_1', activityIds: ['activity_1', 'activity_2'] },
      output: {
        activity_1: { success: true, message: 'Activity deleted.' },
        activity_2: { success: false, message: 'Failed to delete activity.' },
      },
    },
  }),
}
