import Type from 'typebox'
import {
  AccessType,
  CreateFolder,
  CreateOrganization,
  PageSize,
  PageToken,
  UserPageSize,
} from '../base/fields.ts'
import { ChosenId, DocumentId, idBatch, idFilter, OrganizationId, requiredIdFilter } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, described, mapOf, text, v2Only } from '../base/schemas.ts'
import {
  Document,
  DocumentAccessOutcome,
  DocumentDisabled,
  DocumentDisableOutcome,
  DocumentInput,
  ListedDocument,
  MigrationStatus,
} from '../resources/documents.ts'
import { NoData, Outcomes } from '../resources/outcomes.ts'

const id = '8121657101517513'
const migrationId = text('Id of the migration.')
const missingDocument = { success: false, id: 'doc_2', message: 'Document does not exist', code: 'not-found' }

export const documents = {
  add: operation({
    spec: '10.1',
    path: '/organizations/documents/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Add Documents',
    summary: 'Adds documents, in a folder or in none.',
    description:
      'Further keys of a document are stored as its metadata. Without `accessType`, a document inherits from its folder. A document that exists stays unchanged and the others are added; v2 then answers `INTERNAL` with all outcomes in `details`, and v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      createOrganization: v2Only(CreateOrganization),
      documents: batch(DocumentInput, 'The documents to add.'),
      folderId: Type.Optional(
        described(ChosenId, 'Id of the folder that contains the documents. Default: `root`, no folder.'),
      ),
      createFolder: v2Only(CreateFolder),
    }),
    output: Outcomes,
    message: 'Document(s) added successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Folder does not exist.' },
      {
        status: 'INTERNAL',
        message: 'Error adding document(s).',
        details: {
          doc_1: { success: true, id, message: 'Added Successfully' },
          doc_2: { success: false, id: 'doc_2', message: 'Document already exists', code: 'already-exists' },
        },
      },
    ],
    example: {
      input: { organizationId: 'org_1', documents: [{ documentId: 'doc_1', documentName: 'Plan' }] },
      output: { doc_1: { success: true, id, message: 'Added Successfully' } },
    },
  }),
  get: operation({
    spec: '10.2',
    path: '/organizations/documents/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Documents',
    summary: 'Reads documents: all, by id, or by folder.',
    description:
      '`accessType` is the type that applies, set or inherited. If a requested id does not exist, v2 answers `INTERNAL` with all results in `details`, in the order of the request, and v1 leaves it out. v1 has no pages and returns up to 10,000 documents.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: Type.Optional(idFilter('Ids of the documents to read. Default: all.')),
      folderId: v2Only(
        described(
          ChosenId,
          'Reads only the documents directly in this folder. `root`: the documents in no folder.',
        ),
      ),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Array(Document),
    paging: ['pageToken', 'nextPageToken'],
    message: 'Document(s) retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      { status: 'INTERNAL', message: 'Error retrieving document(s).', details: [missingDocument] },
    ],
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'] },
      output: [
        {
          id: 'doc_1',
          documentId: 'doc_1',
          documentName: 'Plan',
          disabled: false,
          accessType: 'public',
          createdAt: 1738695077691,
          lastUpdated: 1738695077691,
        },
      ],
    },
  }),
  list: operation({
    spec: '10.10',
    path: '/organizations/documents/list',
    versions: ['v2'],
    access: 'user',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'List Documents',
    summary: 'Lists the documents of an organization that a user can open.',
    description:
      'With a user token: those that the user of the token can open. With the credentials of the API key: those that the user `userId` can open, by stored grants. The newest documents come first. A page may have fewer documents than `pageSize`, or none, although others follow: read on while there is a `nextPageToken`. If the API key has a permission provider, it is asked about each document that the page considers.',
    input: Type.Object({
      organizationId: OrganizationId,
      userId: Type.Optional(
        described(
          ChosenId,
          'Id of the user. Required without a user token, otherwise the user of the token.',
        ),
      ),
      documentIds: Type.Optional(idFilter('Only documents with these ids. Default: all.')),
      pageSize: Type.Optional(UserPageSize),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(ListedDocument),
    paging: ['nextPageToken'],
    message: 'Document(s) retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'userId is required.' },
      { status: 'PERMISSION_DENIED', message: 'userId must be the user of the token.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
    ],
    example: {
      input: { organizationId: 'org_1', userId: 'user_1' },
      output: [
        {
          documentId: 'doc_1',
          documentName: 'Plan',
          accessRole: 'editor',
          createdAt: 1738695077691,
          lastUpdated: 1738695077691,
        },
      ],
    },
  }),
  update: operation({
    spec: '10.3',
    path: '/organizations/documents/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Update Documents',
    summary: 'Changes the name, the access type and the metadata of documents.',
    description:
      'Sent keys are merged into the stored ones; `null` removes a key. `documents.updateDisableState` changes `disabled`, and `documents.move` the folder. If a document does not exist, the others are changed; v2 then answers `INTERNAL` with all outcomes in `details`, and v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      documents: batch(DocumentInput, 'The documents to change, with the keys to change.'),
    }),
    output: Outcomes,
    message: 'Document(s) updated successfully.',
    errors: [
      { status: 'INTERNAL', message: 'Error updating document(s).', details: { doc_2: missingDocument } },
    ],
    example: {
      input: { organizationId: 'org_1', documents: [{ documentId: 'doc_1', documentName: 'The plan' }] },
      output: { doc_1: { success: true, id, message: 'Updated Successfully' } },
    },
  }),
  delete: operation({
    spec: '10.4',
    path: '/organizations/documents/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Delete Documents',
    summary: 'Deletes documents and everything inside them.',
    description:
      'If a document does not exist, the others are deleted; v2 then answers `INTERNAL` with all outcomes in `details`, and v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: idBatch('Ids of the documents to delete.'),
    }),
    output: Outcomes,
    message: 'Document(s) deleted successfully.',
    errors: [
      { status: 'INTERNAL', message: 'Error deleting document(s).', details: { doc_2: missingDocument } },
    ],
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'] },
      output: { doc_1: { success: true, id, message: 'Deleted Successfully' } },
    },
  }),
  move: operation({
    spec: '10.5',
    path: '/organizations/documents/move',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Move Documents',
    summary: 'Moves documents into a folder, all or none.',
    description:
      '`folderId: "root"` moves the documents out of their folders. Inherited access follows the new folder.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: requiredIdFilter('Ids of the documents to move.'),
      folderId: described(ChosenId, 'Id of the folder to move the documents into. `root`: no folder.'),
    }),
    output: NoData,
    message: 'Documents moved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Folder does not exist.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'], folderId: 'designs' },
      output: null,
    },
  }),
  updateAccess: operation({
    spec: '10.6',
    path: '/organizations/documents/access/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Update Document Access',
    summary: 'Sets the access type of documents.',
    description: 'The documents no longer inherit the type from their folder.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: idBatch('Ids of the documents to change.'),
      accessType: AccessType,
    }),
    output: mapOf(DocumentAccessOutcome),
    message: 'Updated access for documents successfully.',
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'], accessType: 'organizationPrivate' },
      output: {
        doc_1: { success: true, accessType: 'organizationPrivate', message: 'Document access type updated.' },
      },
    },
  }),
  updateDisableState: operation({
    spec: '10.7',
    path: '/organizations/documents/access/disablestate/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'documents',
    title: 'Update Disable State of Documents',
    summary: 'Disables documents for their users, or enables them again.',
    description: 'While a document is disabled, users can neither read nor write it.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: idBatch('Ids of the documents to change.'),
      disabled: DocumentDisabled,
    }),
    output: mapOf(DocumentDisableOutcome),
    message: 'Updated disable state for documents successfully.',
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'], disabled: true },
      output: { doc_1: { success: true, disabled: true, message: 'Document disabled state updated.' } },
    },
  }),
  migrate: operation({
    spec: '10.8',
    path: '/organizations/documents/migrate',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Migrate Documents',
    summary: 'Starts to move a document with all its data to a new id.',
    description:
      'The migration runs in the background; `documents.migrateStatus` reads its state. If the new id exists, the two documents are merged: where both contain an item with the same id, the item of the new document stays. A failed migration leaves the document unchanged. Clients that have the document open are closed with code 4404 and the reason "The document was moved to another id." Give them the new id.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      newDocumentId: described(ChosenId, 'The new id of the document.'),
    }),
    output: Type.Object({ migrationId }),
    message: 'Document migration started successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'newDocumentId must differ from documentId.' },
      { status: 'FAILED_PRECONDITION', message: 'A migration for this document is already running.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1', newDocumentId: 'doc_9' },
      output: { migrationId: 'mig_1f0q2c8b7d6e5a4z3y2x' },
    },
  }),
  migrateStatus: operation({
    spec: '10.9',
    path: '/organizations/documents/migrate/status',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    reportsProgress: true,
    title: 'Migrate Documents Status',
    summary: 'Reads the state of a migration.',
    description: '`completed` and `failed` are final. A finished migration can be read for at least 30 days.',
    input: Type.Object({
      organizationId: OrganizationId,
      migrationId: described(ChosenId, 'Id of the migration, from `documents.migrate`.'),
    }),
    output: Type.Object({ migrationId, status: MigrationStatus }),
    message: 'Migration status retrieved successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Migration does not exist.' }],
    example: {
      input: { organizationId: 'org_1', migrationId: 'mig_1f0q2c8b7d6e5a4z3y2x' },
      output: { migrationId: 'mig_1f0q2c8b7d6e5a4z3y2x', status: 'completed' },
    },
  }),
}
