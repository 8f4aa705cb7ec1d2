import type { ExplainedDecision } from '@plenum/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canWrite, decide, type Grant, type ProviderAnswer } from '../../access/permissions.ts'
import type { SubjectInTree } from '../../access/subjects.ts'
import { explainDecision } from './explanation.ts'

const now = 1000
const ids = { apiKey: 'key', organizationId: 'org', documentId: 'doc' }

const accessType = fc.constantFrom('public', 'organizationPrivate', 'restricted')
const ownType = fc.option(accessType)
const role = fc.constantFrom('viewer', 'editor')
/** Removed, expired, live for a time and live forever. */
const end = fc.constantFrom(0, now - 1, now, now + 1, null)
const grant: fc.Arbitrary<Grant> = fc.record({ accessRole: role, expiresAt: end })
const withGrant = fc.oneof(fc.constant({}), fc.record({ grant }))
const answer: fc.Arbitrary<ProviderAnswer> = fc.record(
  { hasAccess: fc.boolean(), accessRole: role, expiresAt: end },
  { requiredKeys: ['hasAccess'] },
)
const seldom = fc.integer({ min: 0, max: 5 }).map((n) => n === 0)

const subjects: fc.Arbitrary<SubjectInTree> = fc
  .record({
    authenticated: seldom.map((isExpired) => !isExpired),
    organization: fc.tuple(withGrant, seldom),
    document: fc.option(fc.tuple(withGrant, ownType, seldom)),
    folders: fc.array(fc.tuple(withGrant, ownType), { maxLength: 4 }),
    defaultAccessType: accessType,
    provider: fc.option(fc.record({ answer: fc.option(answer, { nil: undefined }) }), { freq: 5 }),
  })
  .filter(({ document, folders }) => document !== null || folders.length > 0)
  .map(({ organization: [held, isDisabled], document, folders, provider, ...rest }) => ({
    ...rest,
    organization: { ...held, disabled: isDisabled },
    ...(document && { document: { ...document[0], accessType: document[1], disabled: document[2] } }),
    folders: folders.map(([has, type], index) => ({ ...has, accessType: type, id: `f${index}` })),
    ...(provider && { provider }),
  }))

const runs = { numRuns: 3000 }
const check = (property: (subject: SubjectInTree, explained: ExplainedDecision) => void) =>
  fc.assert(
    fc.property(subjects, (subject) => property(subject, explainDecision(subject, ids, now))),
    runs,
  )

/** The subject without the grant on this level of the explanation. */
function withoutGrant(subject: SubjectInTree, { type, id }: { type: string; id: string }): SubjectInTree {
  const { document, folders, organization } = subject
  const bare = <T extends { grant?: Grant }>({ grant: _, ...level }: T) => level
  return {
    ...subject,
    organization: type === 'organization' ? bare(organization) : organization,
    ...(document && { document: type === 'document' ? bare(document) : document }),
    folders: folders.map((folder) => (type === 'folder' && folder.id === id ? bare(folder) : folder)),
  }
}

const isLive = ({ expiresAt }: Grant) => expiresAt == null || expiresAt > now

describe('the explanation of any decision', () => {
  test('[7.9.1] the explanation always has the verdict of decide', () =>
    check((subject, explained) => {
      const decision = decide(subject, now)
      expect(explained).toMatchObject({
        canRead: decision.allowed,
        canWrite: canWrite(decision),
        accessType: decision.accessType,
      })
      expect(explained.accessRole).toBe(decision.allowed ? decision.accessRole : undefined)
      expect(explained.expiresAt).toBe(decision.allowed ? decision.expiresAt : undefined)
    }))

  test('[7.9.1] [25.4] [25.4.1] [25.4.2] [25.4.3] [25.4.4] [25.4.5] [25.4.6] the named rule is the first one whose condition holds', () => {
    const seen = new Set<string>()
    check((subject, { rule, accessType: type, definedAt, levels }) => {
      seen.add(rule)
      const { authenticated, organization, document, folders, provider } = subject
      const isDisabled = organization.disabled || document?.disabled === true
      const grants = [document, ...folders, organization].map((level) => level?.grant)
      const definer = folders.findIndex(({ id }) => id === definedAt.id)
      const inReach =
        type !== 'restricted'
          ? grants
          : definedAt.type === 'document'
            ? grants.slice(0, 1)
            : definedAt.type === 'folder'
              ? grants.slice(0, definer + 2)
              : grants.slice(0, -1)
      const hasGrant = inReach.some((one) => one && isLive(one))
      const conditions: [rule: string, holds: boolean][] = [
        ['7.1.2', !authenticated],
        ['25.4.6', isDisabled],
        ['25.4.2', provider !== undefined],
        ['25.4.1', hasGrant],
        ['25.4.3', type === 'public'],
        ['25.4.4', type === 'organizationPrivate'],
        ['25.4.5', type === 'restricted'],
      ]
      expect(rule).toBe(conditions.find(([, holds]) => holds)?.[0])
      expect(levels.some((level) => level.grant?.applies)).toBe(rule === '25.4.1')
    })
    expect([...seen].sort()).toEqual(['25.4.1', '25.4.2', '25.4.3', '25.4.4', '25.4.5', '25.4.6', '7.1.2'])
  })

  test('[7.9.1] the first grant that applies gives the role, and every other one can be removed without an effect', () =>
    check((subject, { levels, accessRole }) => {
      const granted = levels.filter((level) => level.grant)
      const first = granted.find((level) => level.grant?.applies)
      if (first) expect(first.grant?.accessRole).toBe(accessRole)
      for (const level of granted)
        if (level !== first) expect(decide(withoutGrant(subject, level), now)).toEqual(decide(subject, now))
    }))

  test('[7.9] the level that defines the access type is the first one that sets it', () =>
    check((_subject, { levels, definedAt, accessType: type }) => {
      const { type: kind, id } = definedAt
      expect(levels.find((level) => level.accessType)).toMatchObject({ type: kind, id, accessType: type })
      expect(levels.filter(({ inheritAccessFromParent }) => inheritAccessFromParent)).toEqual(
        levels.filter((level) => !level.accessType && level.type !== 'organization'),
      )
    }))

  test('[7.9] every message is whole sentences without a gap', () =>
    check((_subject, { message, levels }) => {
      for (const text of [message, ...levels.map((level) => level.message)]) {
        expect(text).toMatch(/^[A-Z].*[^ ]\.$/)
        expect(text).not.toMatch(/undefined|null| {2}|\.\./)
      }
    }))
})

describe('messages', () => {
  const subject: SubjectInTree = {
    authenticated: true,
    organization: { disabled: false, grant: { accessRole: 'editor' } },
    document: { accessType: null, disabled: false },
    folders: [
      { id: 'inner', accessType: null },
      { id: 'outer', accessType: 'restricted' },
      { id: 'top', accessType: null, grant: { accessRole: 'viewer' } },
    ],
    defaultAccessType: 'public',
  }
  const messagesOf = (changes: Partial<SubjectInTree>) => {
    const { message, levels } = explainDecision({ ...subject, ...changes }, ids, now)
    return [message, ...levels.map((level) => level.message)]
  }

  test('[7.9] a denied user reads which grants would give access, and why the existing ones do not', () => {
    expect(messagesOf({})).toEqual([
      'The document inherits restricted from the folder outer. Only users with a grant on the document, on that folder or on a folder between them have access. The grant on the folder top does not apply: only grants on the folder outer, which is restricted, or below it do. To give access, add a grant on the document with permissions.add.',
      'The user has no grant on this document.',
      'The user has no grant on this folder.',
      'The user has no grant on this folder.',
      'The grant on this folder does not apply: only grants on the folder outer, which is restricted, or below it do.',
      'The grant on the organization does not apply: grants on the organization do not open restricted documents.',
      'The default of the API key does not apply, because the folder outer sets an access type.',
    ])
  })

  test('[7.9] the answer of the permission provider is explained', () => {
    const answers: [answer: ProviderAnswer | undefined, message: string, provider: unknown][] = [
      [
        undefined,
        'The permission provider has not answered, so the user has no access.',
        { hasAccess: false },
      ],
      [{ hasAccess: false }, 'The permission provider denies access.', { hasAccess: false }],
      [
        { hasAccess: true, expiresAt: now },
        'The answer of the permission provider expired at 1970-01-01T00:16:40Z.',
        { hasAccess: true, expiresAt: now },
      ],
      [
        { hasAccess: true, accessRole: 'viewer' },
        'The permission provider gives access. It gives the role viewer: the user may read, but not write.',
        { hasAccess: true, accessRole: 'viewer' },
      ],
    ]
    for (const [given, message, provider] of answers) {
      const explained = explainDecision({ ...subject, provider: { answer: given } }, ids, now)
      expect(explained).toMatchObject({ rule: '25.4.2', message, provider })
      expect(explained.levels.at(-2)?.message).toBe(
        'The grant on the organization does not apply because the permission provider decides.',
      )
    }
  })
})
