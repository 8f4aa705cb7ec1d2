import { describe, expect, test } from 'vitest'
import {
  canWrite,
  decide,
  decideOrganization,
  effectiveAccess,
  type AccessRole,
  type AccessType,
  type Decision,
  type Grant,
  type Level,
  type ProviderAnswer,
  type Subject,
} from './permissions.ts'

const now = 1_700_000_000
const accessTypes = ['public', 'organizationPrivate', 'restricted'] as const
const ownTypes = [...accessTypes, null]

const viewer: Grant = { accessRole: 'viewer' }
const editor: Grant = { accessRole: 'editor' }
const expired: Grant = { accessRole: 'editor', expiresAt: now - 1 }

/** A public document at the root and a user without grants. Each test passes what differs. */
function given(differs: Partial<Subject> = {}): Subject {
  return {
    authenticated: true,
    organization: { disabled: false },
    folders: [],
    document: { disabled: false, accessType: null },
    defaultAccessType: 'public',
    ...differs,
  }
}

/** A restricted document with a grant that ends at `expiresAt`, in seconds. */
const until = (expiresAt: number | null) =>
  given({
    document: { disabled: false, accessType: 'restricted', grant: { accessRole: 'editor', expiresAt } },
  })

const noGrant = (accessType: AccessType): Decision => ({ allowed: false, reason: 'no_grant', accessType })

describe('every combination', () => {
  // The oracle shares no code with `decide`: it knows grants by their kind, not by their expiry, reads the applicable
  // grants from a table, and walks from the API key down to the document, whereas `decide` walks upwards.
  type GrantedAt = 'document' | 'near' | 'far' | 'organization'
  type Kind = 'none' | 'viewer' | 'editor' | 'expired'
  type Spot = { own: AccessType | null; kind: Kind }
  interface Scene {
    key: AccessType
    organization: { kind: Kind; disabled: boolean }
    far?: Spot
    near?: Spot
    document?: Spot & { disabled: boolean }
  }

  const all: readonly GrantedAt[] = ['document', 'near', 'far', 'organization']
  const applicableLevels: Record<
    AccessType,
    Record<'key' | 'far' | 'near' | 'document', readonly GrantedAt[]>
  > = {
    public: { key: all, far: all, near: all, document: all },
    organizationPrivate: { key: all, far: all, near: all, document: all },
    restricted: {
      key: ['document', 'near', 'far'],
      far: ['document', 'near', 'far'],
      near: ['document', 'near'],
      document: ['document'],
    },
  }
  const untilOf = { document: now + 1, near: now + 2, far: now + 3, organization: now + 4 }

  function expected(scene: Scene): Decision {
    let accessType = scene.key
    let definedAt: 'key' | 'far' | 'near' | 'document' = 'key'
    for (const place of ['far', 'near', 'document'] as const) {
      const own = scene[place]?.own
      if (own) [accessType, definedAt] = [own, place]
    }
    if (scene.organization.disabled || scene.document?.disabled === true)
      return { allowed: false, reason: 'disabled', accessType }

    let answer: Decision =
      accessType === 'public' ? { allowed: true, accessRole: 'editor', accessType } : noGrant(accessType)
    for (const place of ['organization', 'far', 'near', 'document'] as const) {
      if (!applicableLevels[accessType][definedAt].includes(place)) continue
      const kind = scene[place]?.kind
      if (kind === 'viewer') answer = { allowed: true, accessRole: 'viewer', accessType }
      if (kind === 'editor')
        answer = { allowed: true, accessRole: 'editor', expiresAt: untilOf[place], accessType }
    }
    return answer
  }

  /** Viewers are permanent, editors expire at a time of their level, so the decision shows which grant gave the role. */
  function grantOf(place: GrantedAt, kind: Kind): Grant | undefined {
    if (kind === 'none') return undefined
    if (kind === 'viewer') return viewer
    return { accessRole: 'editor', expiresAt: kind === 'expired' ? now : untilOf[place] }
  }

  function subjectOf({ key, organization, far, near, document }: Scene): Subject {
    const level = (place: GrantedAt, { own, kind }: Spot) => ({
      accessType: own,
      grant: grantOf(place, kind),
    })
    return given({
      organization: { disabled: organization.disabled, grant: grantOf('organization', organization.kind) },
      folders: [...(near ? [level('near', near)] : []), ...(far ? [level('far', far)] : [])],
      document: document && { ...level('document', document), disabled: document.disabled },
      defaultAccessType: key,
    })
  }

  const kinds = ['none', 'viewer', 'editor', 'expired'] as const
  const spots: Spot[] = ownTypes.flatMap((own) => kinds.map((kind) => ({ own, kind })))
  const organizations = kinds.flatMap((kind) => [true, false].map((disabled) => ({ kind, disabled })))
  const chains: { near?: Spot; far?: Spot }[] = [
    {},
    ...spots.map((near) => ({ near })),
    ...spots.flatMap((near) => spots.map((far) => ({ near, far }))),
  ]
  const documents = spots.flatMap((spot) => [true, false].map((disabled) => ({ ...spot, disabled })))

  /** The scenes for which `decide` and the oracle differ, and how many were compared. */
  function compare(resources: readonly Scene['document'][], folderChains: typeof chains) {
    let compared = 0
    const differences: unknown[] = []
    for (const key of accessTypes)
      for (const organization of organizations)
        for (const chain of folderChains)
          for (const document of resources) {
            const scene: Scene = { key, organization, ...chain, document }
            const actual = decide(subjectOf(scene), now)
            const wanted = expected(scene)
            compared++
            if (!sameDecision(actual, wanted)) differences.push({ scene, actual, wanted })
          }
    return { compared, differences: differences.slice(0, 3) }
  }

  test('[25.4] decide agrees with an independent oracle about documents in all 209,664 combinations', () => {
    expect(compare(documents, chains)).toEqual({ compared: 209_664, differences: [] })
  })

  test('[25.4] decide agrees with an independent oracle about folders in all 6,528 combinations', () => {
    const chainsWithFolder = chains.filter(({ near }) => near)
    expect(compare([undefined], chainsWithFolder)).toEqual({ compared: 6_528, differences: [] })
  })
})

/** Faster than `toEqual`, and as strict: compares all keys. */
function sameDecision(left: Decision, right: Decision): boolean {
  const entries = Object.entries(left)
  const other: Record<string, unknown> = { ...right }
  return (
    entries.length === Object.keys(other).length && entries.every(([name, value]) => other[name] === value)
  )
}

describe('examples of the spec', () => {
  type Row = [
    accessType: AccessType,
    definedAt: 'key default' | 'folder' | 'document',
    organization: Grant | undefined,
    folder: Grant | undefined,
    document: Grant | undefined,
    read: boolean,
    write: boolean,
  ]
  const none = undefined
  // prettier-ignore
  const rows: Row[] = [
    ['public',              'key default', none,   none,   none,    true,  true],
    ['public',              'key default', viewer, none,   none,    true,  false],
    ['organizationPrivate', 'folder',      none,   none,   none,    false, false],
    ['organizationPrivate', 'folder',      editor, none,   viewer,  true,  false],
    ['organizationPrivate', 'document',    none,   none,   editor,  true,  true],
    ['restricted',          'document',    editor, editor, none,    false, false],
    ['restricted',          'folder',      editor, none,   none,    false, false],
    ['restricted',          'folder',      none,   viewer, none,    true,  false],
    ['restricted',          'key default', editor, none,   none,    false, false],
    ['restricted',          'document',    none,   none,   expired, false, false],
  ]

  function subjectOf([accessType, definedAt, organization, folder, document]: Row): Subject {
    const typeAt = (place: typeof definedAt) => (place === definedAt ? accessType : null)
    return given({
      organization: { disabled: false, grant: organization },
      folders: [{ accessType: typeAt('folder'), grant: folder }],
      document: { disabled: false, accessType: typeAt('document'), grant: document },
      defaultAccessType: typeAt('key default') ?? 'public',
    })
  }

  const label = (grant: Grant | undefined) =>
    grant ? `${grant === expired ? 'expired ' : ''}${grant.accessRole}` : 'none'

  for (const row of rows) {
    const [accessType, definedAt, organization, folder, document, read, write] = row
    const grants = `grants (organization: ${label(organization)}, folder: ${label(folder)}, document: ${label(document)})`
    test(`[25.9] if the ${definedAt} sets ${accessType}, a user with ${grants} may read: ${read}, write: ${write}`, () => {
      const decision = decide(subjectOf(row), now)
      const outcome = { accessType: decision.accessType, read: decision.allowed, write: canWrite(decision) }
      expect(outcome).toEqual({ accessType, read, write })
    })
  }

  test.each(accessTypes)(
    '[25.9] a disabled organization or document denies editors when the access type is %s',
    (accessType) => {
      for (const definedAt of ['key default', 'folder', 'document'] as const) {
        const open = subjectOf([accessType, definedAt, editor, editor, editor, true, true])
        const denied = { allowed: false, reason: 'disabled', accessType }
        expect(canWrite(decide(open, now))).toBe(true)
        expect(decide({ ...open, organization: { disabled: true, grant: editor } }, now)).toEqual(denied)
        expect(decide({ ...open, document: { ...open.document!, disabled: true } }, now)).toEqual(denied)
      }
    },
  )
})

describe('effective access type', () => {
  const inherits: Level = { accessType: null }
  const restricted: Level = { accessType: 'restricted' }

  test("[25.2] the document's own access type overrides its folder and the API key", () => {
    const document = { disabled: false, accessType: 'public' } as const
    const subject = given({ document, folders: [restricted], defaultAccessType: 'organizationPrivate' })
    expect(effectiveAccess(subject)).toEqual({ accessType: 'public', definedAt: 'document' })
  })

  test('[25.2] a document without an access type inherits from the nearest folder that has one', () => {
    const folders: Level[] = [inherits, restricted, { accessType: 'public' }]
    const fromFolder = { accessType: 'restricted', definedAt: { folder: 1 } }
    expect(effectiveAccess(given({ folders }))).toEqual(fromFolder)
  })

  test("[25.2] the API key's default applies when no folder up to the root has an access type", () => {
    const chains = [{}, { folders: [inherits, inherits] }, { document: undefined, folders: [inherits] }]
    for (const chain of chains) {
      const subject = given({ ...chain, defaultAccessType: 'restricted' })
      expect(effectiveAccess(subject)).toEqual({ accessType: 'restricted', definedAt: 'default' })
    }
  })
})

describe('restricted deep in a tree', () => {
  test.each([0, 1, 2, 3, 4])(
    '[25.4.5] if folder 2 of the folders 0 (nearest) to 4 is restricted, a grant on folder %i applies only if that is at or below folder 2',
    (grantedAt) => {
      const folders = Array.from({ length: 5 }, (_, index): Level => ({
        accessType: index === 2 ? 'restricted' : null,
        grant: index === grantedAt ? viewer : undefined,
      }))
      for (const document of [given().document, undefined])
        expect(decide(given({ folders, document }), now).allowed).toBe(grantedAt <= 2)
    },
  )
})

describe('checks before the access type', () => {
  const subjects = accessTypes.flatMap((accessType) =>
    [true, false].map((disabled) =>
      given({ organization: { disabled }, document: { disabled: false, accessType, grant: editor } }),
    ),
  )

  test('[25.4] an unauthenticated user is denied whatever the grants and the provider say', () => {
    for (const subject of subjects)
      for (const provider of [undefined, { answer: { hasAccess: true } }]) {
        const accessType = subject.document!.accessType
        const denied = { allowed: false, reason: 'unauthenticated' }
        const stranger = { ...subject, authenticated: false, provider }
        expect(decide(stranger, now)).toEqual({ ...denied, accessType })
        expect(decideOrganization(stranger, now)).toEqual(denied)
      }
  })

  const answers: [title: string, answer: ProviderAnswer | undefined, role: AccessRole | undefined][] = [
    ['no answer denies', undefined, undefined],
    ['hasAccess false denies', { hasAccess: false, accessRole: 'editor' }, undefined],
    ['an answer that ends this second denies', { hasAccess: true, expiresAt: now }, undefined],
    ['hasAccess true without a role gives editor access', { hasAccess: true }, 'editor'],
    ['accessRole viewer gives viewer access', { hasAccess: true, accessRole: 'viewer' }, 'viewer'],
    ['an answer that ends later gives access until then', { hasAccess: true, expiresAt: now + 1 }, 'editor'],
  ]
  test.each(answers)(
    '[25.4] the permission provider decides, whatever the grants and the access type are: %s',
    (_, answer, accessRole) => {
      const answered = accessRole
        ? { allowed: true, accessRole, ...(answer?.expiresAt && { expiresAt: answer.expiresAt }) }
        : { allowed: false, reason: 'provider_denied' }
      for (const grant of [undefined, viewer, editor])
        for (const accessType of accessTypes) {
          const document = { disabled: false, accessType, grant }
          const organization = { disabled: false, grant }
          const subject = given({ organization, document, provider: { answer } })
          expect(decide(subject, now)).toEqual({ ...answered, accessType })
          expect(decideOrganization(subject, now)).toEqual(answered)
        }
    },
  )

  test('[25.4] the permission provider gives no access to disabled documents and organizations', () => {
    const provider = { answer: { hasAccess: true } }
    const organization = { disabled: true, grant: editor }
    const document = { disabled: true, accessType: null, grant: editor }
    const denied = { allowed: false, reason: 'disabled' }
    expect(decide(given({ provider, organization }), now)).toEqual({ ...denied, accessType: 'public' })
    expect(decide(given({ provider, document }), now)).toEqual({ ...denied, accessType: 'public' })
    expect(decideOrganization(given({ provider, organization }), now)).toEqual(denied)
  })
})

describe('organization', () => {
  test('[25.4] an organization gives access only to users with a live grant on it, with the role of the grant', () => {
    const decision = (grant: Grant | undefined, disabled = false) =>
      decideOrganization({ authenticated: true, organization: { disabled, grant } }, now)
    expect(decision(viewer)).toEqual({ allowed: true, accessRole: 'viewer' })
    const ending = { ...editor, expiresAt: now + 9 }
    expect(decision(ending)).toEqual({ allowed: true, ...ending })
    expect(decision(undefined)).toEqual({ allowed: false, reason: 'no_grant' })
    expect(decision(expired)).toEqual({ allowed: false, reason: 'no_grant' })
    expect(decision(editor, true)).toEqual({ allowed: false, reason: 'disabled' })
  })
})

describe('roles', () => {
  test('[25.5] only an editor with access may write', () => {
    expect(canWrite({ allowed: true, accessRole: 'editor' })).toBe(true)
    expect(canWrite({ allowed: true, accessRole: 'viewer' })).toBe(false)
    expect(canWrite({ allowed: false, reason: 'no_grant' })).toBe(false)
  })
})

describe('expiry', () => {
  test('[25.8] a grant applies until its time expiresAt, and not from then on', () => {
    const held = { allowed: true, accessRole: 'editor', expiresAt: now, accessType: 'restricted' }
    expect(decide(until(now), now - 1)).toEqual(held)
    expect(decide(until(now), now - 0.001)).toEqual(held)
    expect(decide(until(now), now)).toEqual(noGrant('restricted'))
    expect(decide(until(now), now + 1)).toEqual(noGrant('restricted'))
  })

  test('[25.8] a grant with expiresAt null is permanent; with zero or NaN it is expired', () => {
    const permanent = { allowed: true, accessRole: 'editor', accessType: 'restricted' }
    expect(decide(until(null), now)).toEqual(permanent)
    expect(decide(until(0), now)).toEqual(noGrant('restricted'))
    expect(decide(until(Number.NaN), now)).toEqual(noGrant('restricted'))
  })

  test('[25.8] without a call of an operation, a decision changes at its expiresAt and not before', () => {
    const moments = [now + 1, now + 2, now + 3, undefined]
    const roles = ['viewer', 'editor'] as const
    const grants = [
      undefined,
      ...roles.flatMap((accessRole) => moments.map((expiresAt) => ({ accessRole, expiresAt }))),
    ]
    for (const accessType of accessTypes)
      for (const organization of grants)
        for (const folder of grants)
          for (const document of grants) {
            const subject = given({
              organization: { disabled: false, grant: organization },
              folders: [{ accessType, grant: folder }],
              document: { disabled: false, accessType: null, grant: document },
            })
            const before = decide(subject, now)
            const end = before.allowed ? (before.expiresAt ?? Infinity) : Infinity
            for (const moment of [now + 1, now + 2, now + 3, now + 4]) {
              const after = decide(subject, moment)
              if (moment < end) expect(after).toEqual(before)
              else expect(after).not.toEqual(before)
            }
          }
  })
})
