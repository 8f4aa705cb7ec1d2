import Type from 'typebox'
import { PageSize, PageToken } from '../base/fields.ts'
import { idBatch, idFilter } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, v2Only } from '../base/schemas.ts'
import { Organization, OrganizationDisabled, OrganizationInput } from '../resources/organizations.ts'
import { Outcomes } from '../resources/outcomes.ts'

const id = '02cf91f7a0dd4e22a3c5ad5a1f77384b'

export const organizations = {
  add: operation({
    spec: '8.1',
    path: '/organizations/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Organizations',
    summary: 'Adds organizations.',
    description:
      'Further keys of an organization are stored as its metadata. An organization that exists stays unchanged.',
    input: Type.Object({ organizations: batch(OrganizationInput, 'The organizations to add.') }),
    output: Outcomes,
    message: 'Organization(s) added successfully.',
    example: {
      input: { organizations: [{ organizationId: 'org_1', organizationName: 'Acme' }] },
      output: { org_1: { success: true, id, message: 'Added Successfully' } },
    },
  }),
  get: operation({
    spec: '8.2',
    path: '/organizations/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Organizations',
    summary: 'Reads organizations, all or by id.',
    description:
      'Ids that do not exist are left out. v1 has no pages and returns up to 10,000 organizations.',
    input: Type.Object({
      organizationIds: Type.Optional(idFilter('Ids of the organizations to read. Default: all.')),
      pageSize: v2Only(PageSize),
      pageToken: v2Only(PageToken),
    }),
    output: Type.Array(Organization),
    paging: ['nextPageToken'],
    message: 'Organization(s) retrieved successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }],
    example: {
      input: { organizationIds: ['org_1'] },
      output: [
        {
          id: 'org_1',
          organizationName: 'Acme',
          disabled: false,
          createdAt: 1738695077691,
          lastUpdated: 1738695077691,
        },
      ],
    },
  }),
  update: operation({
    spec: '8.3',
    path: '/organizations/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Update Organizations',
    summary: 'Changes the name and the metadata of organizations.',
    description:
      'Sent keys are merged into the stored ones; `null` removes a key. `organizations.updateDisableState` changes `disabled`.',
    input: Type.Object({
      organizations: batch(OrganizationInput, 'The organizations to change, with the keys to change.'),
    }),
    output: Outcomes,
    message: 'Organization(s) updated successfully.',
    example: {
      input: { organizations: [{ organizationId: 'org_1', organizationName: 'Acme Inc.' }] },
      output: { org_1: { success: true, id, message: 'Updated Successfully' } },
    },
  }),
  delete: operation({
    spec: '8.4',
    path: '/organizations/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'organizations',
    title: 'Delete Organizations',
    summary: 'Deletes organizations and everything inside them.',
    input: Type.Object({ organizationIds: idBatch('Ids of the organizations to delete.') }),
    output: Outcomes,
    message: 'Organization(s) deleted successfully.',
    example: {
      input: { organizationIds: ['org_1', 'org_2'] },
      output: {
        org_1: { success: true, id, message: 'Deleted Successfully' },
        org_2: {
          success: false,
          id: 'a41b0c6de7f5431f8a7b0e9d2c6f1135',
          message: 'Organization does not exist',
        },
      },
    },
  }),
  updateDisableState: operation({
    spec: '8.5',
    path: '/organizations/access/disablestate/update',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'organizations',
    title: 'Update Disable State of Organizations',
    summary: 'Disables organizations for their users, or enables them again.',
    description:
      'While an organization is disabled, users can neither read nor write anything in it. An organization that does not exist is created.',
    input: Type.Object({
      organizationIds: idBatch('Ids of the organizations to change.'),
      disabled: OrganizationDisabled,
    }),
    output: Outcomes,
    message: 'Updated disable state for Organization(s) successfully.',
    example: {
      input: { organizationIds: ['org_1'], disabled: true },
      output: {
        org_1: { success: true, id, message: 'Updated disable state for organization Successfully' },
      },
    },
  }),
}
