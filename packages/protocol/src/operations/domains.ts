import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { NoInput } from '../resources/outcomes.ts'
import { DomainsInput } from '../resources/workspaces.ts'

const domainList = (description: string) => Type.Array(Type.String(), { description })

export const domains = {
  add: operation({
    spec: '2.1',
    path: '/workspace/domains/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Domains',
    summary: 'Allows browsers of further domains to use the API key.',
    description:
      'Entries may be URLs or hosts; protocol, `www`, port and path are stripped. `*.example.com` allows everything below `example.com`. Domains that are on the list already are skipped: the answer is then an error that names them, and the others are added all the same. An invalid entry refuses the whole call.',
    input: DomainsInput,
    output: Type.Object({ domainsAdded: domainList('The domains that were added, normalized.') }),
    message: 'Domain(s) added successfully to allowed domains.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid domain: exa mple.com' },
      {
        status: 'INTERNAL',
        message: 'Domain(s) added successfully to allowed domains. Skipped existing domains.',
        details: { domainsAdded: ['a.dev'], skippedDomains: ['example.com'] },
      },
    ],
    example: {
      input: { domains: ['https://www.example.com', '*.example.org'] },
      output: { domainsAdded: ['example.com', '*.example.org'] },
    },
  }),
  get: operation({
    spec: '2.2',
    path: '/workspace/domains/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Domains',
    summary: 'Reads the domains whose browsers may use the API key.',
    description: 'In the order in which they were added. An empty list means that every domain may.',
    input: NoInput,
    output: Type.Object({
      allowedDomains: domainList('The domains whose pages may use the API key. Empty: every domain may.'),
    }),
    message: 'Allowed domains retrieved successfully.',
    example: { input: {}, output: { allowedDomains: ['localhost', '127.0.0.1', 'example.com'] } },
  }),
  delete: operation({
    spec: '2.3',
    path: '/workspace/domains/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Domains',
    summary: 'Takes domains off the list.',
    description:
      'Entries are read as when adding, and removed by that exact form: removing `x.com` leaves `*.x.com`. Domains that are not on the list are skipped: the answer is then an error that names them, and the others are removed all the same. Removing the last domain lets every domain in.',
    input: DomainsInput,
    output: Type.Object({ domainsRemoved: domainList('The domains that were removed, normalized.') }),
    message: 'Domain(s) removed successfully from allowed domains.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Invalid domain: exa mple.com' },
      {
        status: 'INTERNAL',
        message: 'Domain(s) removed successfully from allowed domains. Skipped non-existing domains.',
        details: { domainsRemoved: ['example.com'], skippedDomains: ['a.dev'] },
      },
    ],
    example: { input: { domains: ['example.com'] }, output: { domainsRemoved: ['example.com'] } },
  }),
}
