import { operation } from '../base/operation.ts'
import { NoInput } from '../resources/outcomes.ts'
import { PermissionProviderConfig, PermissionProviderConfigInput } from '../resources/permission-provider.ts'

export const permissionProviderConfig = {
  get: operation({
    spec: '7.7',
    path: '/workspace/permissionproviderconfig/get',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Permission Provider Config',
    summary: 'Reads the settings of the permission provider of the API key.',
    description: 'The auth token of the provider is masked.',
    input: NoInput,
    output: PermissionProviderConfig,
    message: 'Permission provider configuration retrieved successfully.',
    example: {
      input: {},
      output: {
        usePermissionProvider: false,
        permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
      },
    },
  }),
  update: operation({
    spec: '7.8',
    path: '/workspace/permissionproviderconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'everybody',
    title: 'Update Permission Provider Config',
    summary: 'Changes the settings of the permission provider of the API key.',
    description:
      'A permission provider is an HTTP endpoint of yours. While it is on, the server asks it who may open a document, and ignores grants and access types. Sent fields are merged into the stored ones. The auth token is stored encrypted. Sending back the masked token keeps the stored token, and an empty string removes it. A change applies to open connections immediately, and drops the answers that the server remembers.',
    input: PermissionProviderConfigInput,
    output: PermissionProviderConfig,
    message: 'Permission provider configuration updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of usePermissionProvider or permissionProviderConfig must be provided',
      },
      { status: 'INVALID_ARGUMENT', message: 'Please enter a valid URL' },
    ],
    example: {
      input: {
        usePermissionProvider: true,
        permissionProviderConfig: {
          permissionProviderUrl: 'https://example.com/permissions',
          authToken: 'a-secret-of-your-own',
        },
      },
      output: {
        usePermissionProvider: true,
        permissionProviderConfig: {
          permissionProviderUrl: 'https://example.com/permissions',
          authToken: 'a-s...own',
        },
      },
    },
  }),
}
