import { expect, test } from 'vitest'
import type { AccessScope, BusMessage } from '../bus.ts'
import { mergeAccess } from './merge-access.ts'

const access = (apiKey: string, scope: AccessScope = {}): BusMessage => ({ kind: 'access', apiKey, ...scope })
const gone: BusMessage = { kind: 'gone', apiKey: 'k1', organizationId: 'o1' }

test('[B3] the changes of access of an API key become one for users and one for organizations, after all other messages', () => {
  const inDocument = access('k1', { organizationIds: ['o1'], documentIds: ['d1'] })
  expect(
    mergeAccess([
      access('k1', { userIds: ['ada', 'bob'] }),
      access('k1', { organizationIds: ['o1'] }),
      inDocument,
      access('k2', { userIds: ['ada'] }),
      access('k1', { userIds: ['bob', 'cy'] }),
      access('k1', { organizationIds: ['o2', 'o1'] }),
      gone,
    ]),
  ).toEqual([
    inDocument,
    gone,
    access('k1', { userIds: ['ada', 'bob', 'cy'] }),
    access('k1', { organizationIds: ['o1', 'o2'] }),
    access('k2', { userIds: ['ada'] }),
  ])
})

test('[B3] a change of access of all users includes the other changes of its API key', () => {
  expect(
    mergeAccess([
      access('k1', { userIds: ['ada'] }),
      access('k1'),
      access('k1', { organizationIds: ['o1'] }),
      access('k2', { userIds: ['bob'] }),
    ]),
  ).toEqual([access('k1'), access('k2', { userIds: ['bob'] })])
})

test('[B3] a change of access that has empty lists of users and organizations is left out', () => {
  expect(mergeAccess([access('k1', { userIds: [] }), access('k1', { organizationIds: [] })])).toEqual([])
})
