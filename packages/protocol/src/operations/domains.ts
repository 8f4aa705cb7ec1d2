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
    summary: 'Allows pages of further domains to use the API key.',
    description:
      'Entries are URLs or hosts. The server removes protocol, `www`, port and path. `*.example.com` allows all subdomains of `example.com`. An invalid entry fails the whole call. Domains that are already allowed are skipped: the others are added, and the answer is an error that lists the skipped ones.',
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
    spec: '4.6',
    path: '/workspace/domains/get',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get Domains',
    summary: 'Reads the domains whose pages may use the API key.',
    description: 'The domains come in the order in which they were added. An empty list allows every domain.',
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
    summary: 'Removes domains from the allowed domains.',
    description:
      'Entries are normalized as in Add Domains and removed by exact match: removing `x.com` keeps `*.x.com`. Domains that are not on the list are skipped: the others are removed, and the answer is an error that lists the skipped ones. Removing the last domain allows every domain.',
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
