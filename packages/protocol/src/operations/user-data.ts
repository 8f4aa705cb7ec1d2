import Type from 'typebox'
import { PageToken } from '../base/fields.ts'
import { ChosenId, idBatch, OrganizationId, UserId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described, flag, text } from '../base/schemas.ts'
import { UserData } from '../resources/user-data.ts'

const jobId = 'job_1f0q2c8b7d6e5a4z3y2x'

export const userData = {
  get: operation({
    spec: '14.1',
    path: '/users/data/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Get All User Data',
    summary: 'Exports what is stored about a user in an organization.',
    description:
      'A page has at most 100 items of each list. The lists are read in the order in which they are declared: while one of them has more items, the lists behind it are empty. A page can be empty and still have a `nextPageToken`. Read pages until there is none, and join the lists.',
    input: Type.Object({
      organizationId: OrganizationId,
      userId: UserId,
      pageToken: Type.Optional(PageToken),
    }),
    output: UserData,
    paging: ['nextPageToken'],
    message: 'Data fetched successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }],
    example: {
      input: { organizationId: 'org_1', userId: 'user_1' },
      output: {
        user: { userId: 'user_1', name: 'Ada Lovelace', initial: 'A', color: '#2f6fde' },
        resources: [{ type: 'organization', id: 'org_1', accessRole: 'editor' }],
        comments: [],
        reactions: [
          {
            documentId: 'doc_1',
            annotationId: 'annotation_1',
            commentId: 153783,
            icon: 'HEART_FACE',
            createdAt: 1748972106739,
          },
        ],
        recordings: [],
        notifications: [],
        activities: [],
        groups: [{ groupId: 'engineering', groupName: 'Engineering' }],
        preferences: [{ documentId: '', config: { email: 'NONE' } }],
        involvements: [{ documentId: 'doc_1', annotationId: 'annotation_1', involvement: 'assigned' }],
        causedNotifications: [],
        presence: [],
        versions: [],
      },
    },
  }),
  delete: operation({
    spec: '14.2',
    path: '/users/data/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete All User Data',
    summary: 'Starts to erase everything that is stored about users.',
    description:
      'The erasure runs in the background; `userData.deleteStatus` reads its progress. It removes access, profiles, comments, reactions, notifications, activities, also immutable ones, preferences and presence of the users, and mentions of them in comments of others, and objects with their ids or addresses in the context and the attachments of these comments. Texts that others wrote stay, also if they contain a name. A comment thread stays if others have commented in it. The content of editors and live states stays, but no longer says who wrote it. The event log keeps that something was changed, without the content and the users. A profile is kept if the erasure is limited to organizations and the user belongs to another one. Issue no more tokens for the users: with a new token, a user can sign in again. In `public` documents, tokens that were issued before work until they expire, after at most 48 hours, and open connections stay; what a user does there is stored again.',
    input: Type.Object({
      userIds: idBatch('Ids of the users.'),
      organizationIds: Type.Optional(
        idBatch('Erases only what is stored in these organizations. Default: in all organizations.'),
      ),
    }),
    output: Type.Object({
      jobId: text('Id of the erasure, for `userData.deleteStatus`.'),
      tasksCount: Type.Integer({ description: 'The number of tasks: one for each user and organization.' }),
    }),
    message: 'Data deletion process has been initiated.',
    successStatus: 202,
    example: {
      input: { userIds: ['user_9'], organizationIds: ['org_1'] },
      output: { jobId, tasksCount: 1 },
    },
  }),
  deleteStatus: operation({
    spec: '14.3',
    path: '/users/data/delete/status',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    reportsProgress: true,
    title: 'Delete Status',
    summary: 'Reads the progress of an erasure.',
    description: 'A completed erasure can be read for at least 30 days.',
    input: Type.Object({ jobId: described(ChosenId, 'Id of the erasure, from `userData.delete`.') }),
    output: Type.Object({
      isDeleteCompleted: flag('Whether everything is erased.'),
      tasksLeft: Type.Integer({ description: 'The number of tasks that are not completed.' }),
      lastTaskCompletedTime: Type.Union([Type.Integer(), Type.Null()], {
        description:
          'When the last task was completed, as Unix time in milliseconds. Null: none is completed.',
      }),
    }),
    message: 'Data fetched successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Job does not exist.' }],
    example: {
      input: { jobId },
      output: { isDeleteCompleted: true, tasksLeft: 0, lastTaskCompletedTime: 1748972106739 },
    },
  }),
}
