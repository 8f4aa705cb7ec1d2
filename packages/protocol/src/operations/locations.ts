import Type from 'typebox'
import { ChosenId, DocumentId } from '../base/ids.ts'
import { type ErrorExample, operation } from '../base/operation.ts'
import { described, flag } from '../base/schemas.ts'
import { NewLocation } from '../resources/places.ts'
import { LocationMigration } from '../resources/locations.ts'
import { bodyCredentials } from '../resources/user-tokens.ts'

const target = {
  ...bodyCredentials,
  organizationId: Type.Optional(
    described(
      ChosenId,
      'Id of the organization. Required if several organizations have a document with this id.',
    ),
  ),
  documentId: DocumentId,
}

const credentials = {
  apiKey: 'key_1',
  authToken: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJrZXlfMSJ9.c2lnbmF0dXJl',
}

const errors: ErrorExample[] = [
  { status: 'INVALID_ARGUMENT', message: 'Auth token not found.' },
  { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
  { status: 'INVALID_ARGUMENT', message: 'organizationId is required.' },
]
const needsIdentity = (field: string): ErrorExample => ({
  status: 'INVALID_ARGUMENT',
  message: `${field} must have an id or a locationName.`,
})

export const locations = {
  update: operation({
    spec: '11.1',
    path: '/organizations/documents/locations/update',
    versions: ['v1'],
    access: 'body',
    effect: 'write',
    title: 'Update Location',
    summary: 'Moves everything at a location of a document to another location.',
    description:
      'Every annotation and notification at the old location gets the new location. A location is found by its `id`, else by its `locationName`. Nothing changes if nothing is there. The time of the last change of an annotation stays.',
    input: Type.Object({
      ...target,
      migrate: described(LocationMigration, 'The old and the new location.'),
      merge: Type.Optional(
        flag(
          'True: the fields of the new location are added to the stored ones. Default: they replace them.',
        ),
      ),
    }),
    output: Type.Null(),
    message: 'Location updated.',
    errors: [...errors, needsIdentity('migrate.oldLocation'), needsIdentity('migrate.newLocation')],
    example: {
      input: {
        ...credentials,
        documentId: 'doc_1',
        migrate: { oldLocation: { id: 'page_1' }, newLocation: { id: 'page_2', locationName: 'Page 2' } },
      },
      output: null,
    },
  }),
  deleteData: operation({
    spec: '11.2',
    path: '/organizations/documents/locations/data/delete',
    versions: ['v1'],
    access: 'body',
    effect: 'write',
    title: 'Delete Data by Location',
    summary: 'Deletes the comments, reactions and notifications at a location of a document.',
    description: 'The document stays.',
    input: Type.Object({ ...target, location: described(NewLocation, 'The location.') }),
    output: Type.Null(),
    message: 'Data deleted successfully.',
    errors: [...errors, needsIdentity('location')],
    example: {
      input: { ...credentials, documentId: 'doc_1', location: { id: 'page_1' } },
      output: null,
    },
  }),
}
