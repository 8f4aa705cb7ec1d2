import Type from 'typebox'
import { AccessType, CreateFolder, CreateOrganization, PageSize, PageToken } from '../base/fields.ts'
import { ClientId, DocumentId, idBatch, idFilter, OrganizationId, requiredIdFilter } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, described, mapOf, text, v2Only } from '../base/schemas.ts'
import {
  Document,
  DocumentAccessOutcome,
  DocumentDisabled,
  DocumentDisableOutcome,
  DocumentInput,
  MigrationStatus,
} from '../resources/documents.ts'
import { NoData, Outcomes } from '../resources/outcomes.ts'

const id = '8121657101517513'
const migrationId = text('Id of the migration.')
const missing = { success: false, id: 'doc_2', message: 'Document does not exist', code: 'not-found' }

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
      'Further keys of a document are kept as its metadata. Without `accessType` a document inherits from its folder. If one exists already it is left as it is, the others are added, and v2 answers `INTERNAL` with every outcome in `details`; v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      createOrganization: v2Only(CreateOrganization),
      documents: batch(DocumentInput, 'The documents to add.'),
      folderId: Type.Optional(
        described(ClientId, 'Id of the folder that contains the documents. Default: `root`, no folder.'),
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
    summary: 'Reads documents: all, by id, or those of one folder.',
    description:
      '`accessType` is the one in force, inherited or not. `folderId` selects the direct members of a folder; `root` the documents in no folder. If a requested id does not exist, v2 answers `INTERNAL` with all of them in `details`, in the order of the request; v1 leaves it out. v1 returns up to 10,000 documents at once.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: Type.Optional(idFilter('Ids of the documents to read. Default: all.')),
      folderId: v2Only(
        described(ClientId, 'Reads only the documents directly in this folder. `root`: those in no folder.'),
      ),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Array(Document),
    paging: ['pageToken', 'nextPageToken'],
    message: 'Document(s) retrieved successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
      { status: 'INTERNAL', message: 'Error retrieving document(s).', details: [missing] },
    ],
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1'] },
      output: [
        {
          id: 'doc_1',
          documentName: 'Plan',
          disabled: false,
          accessType: 'public',
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
      'Sent keys are merged into the stored ones; `null` removes a key. `disabled` and the folder have operations of their own. If one does not exist the others are changed, and v2 answers `INTERNAL` with every outcome in `details`; v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      documents: batch(DocumentInput, 'The documents to change, with the keys to change.'),
    }),
    output: Outcomes,
    message: 'Document(s) updated successfully.',
    errors: [{ status: 'INTERNAL', message: 'Error updating document(s).', details: { doc_2: missing } }],
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
      'If one does not exist the others are deleted, and v2 answers `INTERNAL` with every outcome in `details`; v1 answers 200.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: idBatch('Ids of the documents to delete.'),
    }),
    output: Outcomes,
    message: 'Document(s) deleted successfully.',
    errors: [{ status: 'INTERNAL', message: 'Error deleting document(s).', details: { doc_2: missing } }],
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
    summary: 'Moves documents into a folder, all of them or none.',
    description: '`folderId: "root"` takes them out of any folder. Inherited access follows the new folder.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: requiredIdFilter('Ids of the documents to move.'),
      folderId: described(ClientId, 'Id of the folder to move them into. `root`: no folder.'),
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
    summary: 'Sets who may enter documents.',
    description: 'The type is then the document’s own and no longer inherited from its folder.',
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
    summary: 'Shuts documents for their users, or opens them again.',
    description: 'While a document is disabled no user can read or write it.',
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
    summary: 'Starts to move a document with all its data to another id.',
    description:
      'Runs in the background; ask `documents.migrateStatus` how far it is. If the new id exists already the two are merged, and where both have something of the same id the one of the new document stays. A migration that fails leaves the document as it was. Clients that have the document open are closed with 4404 and the reason "The document was moved to another id.": tell them the new id.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      newDocumentId: described(ClientId, 'The new id of the document.'),
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
    tellsProgress: true,
    title: 'Migrate Documents Status',
    summary: 'Tells how far a migration is.',
    description: '`completed` and `failed` are final. Migrations that ended are known for at least 30 days.',
    input: Type.Object({
      organizationId: OrganizationId,
      migrationId: described(ClientId, 'Id of the migration, from `documents.migrate`.'),
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
