import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { Done } from '../resources/outcomes.ts'
import { batch, ClientId, ClientIds } from '../base/fields.ts'
import { PresenceUser } from '../resources/presence.ts'

const document = { organizationId: ClientId, documentId: ClientId }
const place = { organizationId: 'org_1', documentId: 'doc_1' }

export const presence = {
  add: operation({
    spec: '15.1',
    path: '/presence/add',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Presence',
    summary: 'Shows users as present in a document.',
    description:
      'A user who is present already is overwritten. `status` is `online` unless sent. Users stay until they are deleted, or for 24 hours without an update; a document has at most 1,000 of them. Organization and document are created when they do not exist.',
    input: Type.Object({ ...document, users: batch(PresenceUser) }),
    output: Done,
    message: 'Presence added successfully.',
    errors: [
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'A document has at most 1000 users whom a backend shows as present.',
      },
    ],
    example: {
      input: {
        ...place,
        users: [{ userId: 'user_1', name: 'Ada', email: 'ada@example.com', status: 'online' }],
      },
      output: { success: true },
    },
  }),
  update: operation({
    spec: '15.2',
    path: '/presence/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Presence',
    summary: 'Changes users who are present in a document.',
    description:
      'Only the sent fields change; a user with none is kept present for another 24 hours. Users who are not present are ignored.',
    input: Type.Object({ ...document, users: batch(PresenceUser) }),
    output: Done,
    message: 'Presence updated successfully.',
    example: {
      input: { ...place, users: [{ userId: 'user_1', status: 'away' }] },
      output: { success: true },
    },
  }),
  delete: operation({
    spec: '15.3',
    path: '/presence/delete',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Presence',
    summary: 'Removes users from the presence list of a document.',
    description: 'Users who are not present are ignored.',
    input: Type.Object({ ...document, userIds: ClientIds }),
    output: Done,
    message: 'Presence deleted successfully.',
    example: { input: { ...place, userIds: ['user_1'] }, output: { success: true } },
  }),
}
