import Type from 'typebox'
import { DocumentId, idBatch, OrganizationId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch } from '../base/schemas.ts'
import { Success } from '../resources/outcomes.ts'
import { PresenceOutcome, PresenceUser } from '../resources/presence.ts'

const documentRef = { organizationId: OrganizationId, documentId: DocumentId }
const document = { organizationId: 'org_1', documentId: 'doc_1' }

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
      'A user who is already present is overwritten. Users stay until they are deleted, or for 24 hours without an update. A backend can add at most 1,000 users to a document. The organization and the document are created if they do not exist. Other fields than those below are ignored, and the answer names them.',
    input: Type.Object({ ...documentRef, users: batch(PresenceUser, 'The users to add.') }),
    output: PresenceOutcome,
    message: 'Presence added successfully.',
    errors: [
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'A backend can add at most 1000 users to the presence of a document.',
      },
    ],
    example: {
      input: {
        ...document,
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
      'Only the sent fields change. A user who is sent without further fields stays present for another 24 hours. Users who are not present are ignored. The answer names ignored fields.',
    input: Type.Object({
      ...documentRef,
      users: batch(PresenceUser, 'The users to change, with the fields to change.'),
    }),
    output: PresenceOutcome,
    message: 'Presence updated successfully.',
    example: {
      input: { ...document, users: [{ userId: 'user_1', status: 'away' }] },
      output: { success: true },
    },
  }),
  delete: operation({
    spec: '4.14',
    path: '/presence/delete',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Presence',
    summary: 'Removes users from the presence list of a document.',
    description: 'Users who are not present are ignored.',
    input: Type.Object({ ...documentRef, userIds: idBatch('Ids of the users to remove.') }),
    output: Success,
    message: 'Presence deleted successfully.',
    example: { input: { ...document, userIds: ['user_1'] }, output: { success: true } },
  }),
}
