import Type from 'typebox'
import { recordedNames } from '../base/events.ts'
import { ChosenId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { choice, described } from '../base/schemas.ts'
import { EventBatch } from '../resources/events.ts'

export const events = {
  get: operation({
    spec: '27.1',
    path: '/events/get',
    versions: ['v2'],
    access: 'user',
    effect: 'read',
    title: 'Get Events',
    summary: 'Reads the event log of the API key: every change of comments and editors, once, in order.',
    description:
      'Send the `after` of the last answer to continue. A reader that continues never misses an event, also not one that was committed late. Events are removed after `EVENT_RETENTION_DAYS`; a reader that is further behind gets an error. With a user token, `organizationId` and `documentId` are required, and the answer has only events that the user may see.',
    input: Type.Object(
      {
        after: Type.Optional(
          Type.String({
            maxLength: 200,
            description:
              'Only events after this position: the `after` of the last answer. Default: all events.',
          }),
        ),
        names: Type.Optional(
          Type.Array(choice(recordedNames), {
            minItems: 1,
            maxItems: 30,
            description: 'Only events with these names.',
          }),
        ),
        organizationId: Type.Optional(described(ChosenId, 'Only events of this organization.')),
        documentId: Type.Optional(
          described(ChosenId, 'Only events of this document. Requires `organizationId`.'),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of events. Default: 100.' }),
        ),
        wait: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 20,
            description:
              'If there are no events, wait this many seconds for one, and answer at once when it is there. For backends only. Default: 0.',
          }),
        ),
      },
      { 'x-conditions': { dependentRequired: { documentId: ['organizationId'] } } },
    ),
    output: EventBatch,
    message: 'Events retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'after must be the after of an earlier answer.' },
      { status: 'INVALID_ARGUMENT', message: 'organizationId is required.' },
      { status: 'INVALID_ARGUMENT', message: 'wait is for backends.' },
      { status: 'RESOURCE_EXHAUSTED', message: 'At most 100 readers of an API key wait for events.' },
      {
        status: 'FAILED_PRECONDITION',
        message:
          'Events after this position were removed, because they are older than 30 days. Read without after, from the oldest event that is left.',
      },
      {
        status: 'FAILED_PRECONDITION',
        message:
          'The event log has not reached this position: the database was replaced by an older copy. Read without after.',
      },
    ],
    example: {
      input: { names: ['comment.add'], limit: 100 },
      output: {
        events: [
          {
            id: 'evt_5d1f3c0a9b7e42d6c8f01a2b',
            name: 'comment.add',
            number: 3127841093576214,
            organizationId: 'org_1',
            documentId: 'doc_1',
            annotationId: 'a1',
            actor: { userId: 'user_1' },
            payload: { commentIds: [778115] },
            timestamp: 1738695077691,
          },
        ],
        after: 'kXo3mV0tYw1cQ8bZr5uJ2nE7aHs4dLfG6pKiTqCvBxM',
        hasMore: false,
      },
    },
  }),
}
