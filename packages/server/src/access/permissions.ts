export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type AccessRole = 'viewer' | 'editor'

export interface Grant {
  accessRole: AccessRole
  /** Whether nobody sent the role. Then another grant that applies gives the role, or without one it is `editor` (spec 25.3.5). */
  hasDefaultRole?: boolean
  /** Unix seconds. Present if another grant gives the role: when that grant ends. */
  roleEndsAt?: number | null
  /** Unix seconds: the grant ends when this second begins. Absent or null: the grant is permanent. */
  expiresAt?: number | null
  /** Present in a grant of a token: when the token was issued, in Unix milliseconds. */
  issuedAt?: number
}

export interface StoredGrant extends Grant {
  /** When the grant was added, changed or removed, in Unix milliseconds. A removed grant is stored as expired. */
  setAt: number
  /** When the role was sent, in Unix milliseconds. Absent: with the grant. */
  roleSetAt?: number
}

/** What the permission provider answers about a user and a resource. */
export interface ProviderAnswer {
  hasAccess: boolean
  accessRole?: AccessRole
  /** Unix seconds, although the provider itself sends another unit. */
  expiresAt?: number | null
}

/**
 * A folder or a document. Without an access type (null) it inherits that of the level above. `grant` is the user's grant on
 * it.
 */
export interface Level {
  accessType: AccessType | null
  grant?: Grant
}

/** The facts for a decision about a user and an organization. */
export interface OrganizationSubject {
  authenticated: boolean
  organization: { disabled: boolean; grant?: Grant }
  /** Present if the permission provider is on. Then grants are ignored, and a missing answer denies. */
  provider?: { answer: ProviderAnswer | undefined }
}

/** The facts for a decision about a user and a document. Without `document` it is about the folder `folders[0]`. */
export interface Subject extends OrganizationSubject {
  document?: Level & { disabled: boolean }
  /** The folders around the document, nearest first. Empty: the document is at the root. */
  folders: readonly Level[]
  /** `defaultDocumentAccessType` of the API key. */
  defaultAccessType: AccessType
}

export interface EffectiveAccess {
  accessType: AccessType
  /** Where the access type is set. `folder` is an index into `folders`; `default` is the API key. */
  definedAt: 'document' | { folder: number } | 'default'
}

export type DenialReason = 'unauthenticated' | 'disabled' | 'provider_denied' | 'no_grant'

/** `expiresAt`, in Unix seconds, is the first time at which the verdict may change without a call of an operation. */
export type Verdict =
  | { allowed: true; accessRole: AccessRole; expiresAt?: number }
  | { allowed: false; reason: DenialReason }

export type Decision = Verdict & { accessType: AccessType }

/** The fact that decides about a document or a folder. */
export type Basis =
  | { by: 'unauthenticated' | 'disabledOrganization' | 'disabledDocument' | 'public' | 'noGrant' }
  | { by: 'provider'; answer: ProviderAnswer | undefined }
  /**
   * `level`: 0 is the document, then come the folders from the nearest on, the last one is the organization. `roleLevel`: the
   * level whose grant gives the role, which `grant` has.
   */
  | { by: 'grant'; grant: Grant; level: number; roleLevel: number }

/** A decision with its reasons. */
export interface Reasoning {
  decision: Decision
  access: EffectiveAccess
  basis: Basis
  /** The grants on this many levels apply under the access type, counted as in `Basis`. */
  applicableLevels: number
}

/**
 * Decides by spec 25.4 about a document or a folder. `allowed` means that the user may read; `canWrite` tells who may
 * write.
 */
export function decide(subject: Subject, nowSeconds: number): Decision {
  return decideWithReasons(subject, nowSeconds).decision
}

/** As `decide`, with the reasons of the decision. */
export function decideWithReasons(subject: Subject, nowSeconds: number): Reasoning {
  const access = effectiveAccess(subject)
  const applicableLevels = countApplicableLevels(subject, access)
  const basis = findBasis(subject, access.accessType, applicableLevels, nowSeconds)
  const decision = { ...verdictOf(basis, nowSeconds), accessType: access.accessType }
  return { decision, access, basis, applicableLevels }
}

/** Restricts a decision: the user may do at most what the grant allows. */
export function limit(decision: Decision, grant: Grant | undefined, nowSeconds: number): Decision {
  if (!decision.allowed) return decision
  const { accessType } = decision
  if (!isLive(grant, nowSeconds)) return { ...deny('no_grant'), accessType }
  const accessRole = grant.accessRole === 'viewer' ? 'viewer' : decision.accessRole
  const expiresAt = Math.min(decision.expiresAt ?? Infinity, grant.expiresAt ?? Infinity)
  return { ...allow({ accessRole, ...(expiresAt < Infinity && { expiresAt }) }), accessType }
}

/** Decides about an organization. Organizations have no access type: only a grant gives access, and a membership is a grant. */
export function decideOrganization(subject: OrganizationSubject, nowSeconds: number): Verdict {
  const { authenticated, organization, provider } = subject
  if (!authenticated) return deny('unauthenticated')
  if (organization.disabled) return deny('disabled')
  if (provider) return followProvider(provider.answer, nowSeconds)
  return isLive(organization.grant, nowSeconds) ? allow(organization.grant) : deny('no_grant')
}

export function canWrite(verdict: Verdict): boolean {
  return verdict.allowed && verdict.accessRole === 'editor'
}

/** The access type that applies (spec 25.2), and the level that sets it. */
export function effectiveAccess(
  subject: Pick<Subject, 'document' | 'folders' | 'defaultAccessType'>,
): EffectiveAccess {
  const { document, folders, defaultAccessType } = subject
  if (document?.accessType) return { accessType: document.accessType, definedAt: 'document' }
  for (const [index, { accessType }] of folders.entries()) {
    if (accessType) return { accessType, definedAt: { folder: index } }
  }
  return { accessType: defaultAccessType, definedAt: 'default' }
}

/**
 * The grant of a session on one resource: the newer one of the stored grant and the token's grant (spec 25.3). A stored grant
 * that ended or was removed overrides older tokens. When the token's grant ends, the stored grant applies again. So merge
 * them at each decision, not at sign-in. The role is the one that was sent last.
 */
export function mergeGrants(
  stored: StoredGrant | undefined,
  token: (Grant & { issuedAt: number }) | undefined,
  nowSeconds: number,
): Grant | undefined {
  const tokenIsNewer = token && (!stored || token.issuedAt > stored.setAt)
  const grant = [tokenIsNewer ? token : undefined, stored].find((one) => isLive(one, nowSeconds))
  const hasRole = (one: Grant | undefined) => isLive(one, nowSeconds) && !one.hasDefaultRole
  const tokenRoleIsNewer = token && (!stored || token.issuedAt > (stored.roleSetAt ?? stored.setAt))
  const roles = tokenRoleIsNewer ? [token, stored] : [stored, token]
  return grant && withRoleOf(grant, roles.find(hasRole))
}

function withRoleOf(grant: Grant, giver: Grant | undefined): Grant {
  if (!giver || giver === grant) return grant
  const end = endOf(giver)
  const role = { accessRole: giver.accessRole, hasDefaultRole: giver.hasDefaultRole ?? false }
  return { ...grant, ...role, ...(end < Infinity && { roleEndsAt: end }) }
}

/** When the grant or its role ends, in Unix seconds. */
const endOf = ({ expiresAt, roleEndsAt }: Grant) => Math.min(expiresAt ?? Infinity, roleEndsAt ?? Infinity)

/** Finds the first fact that decides, in the order of spec 25.4. */
function findBasis(
  subject: Subject,
  accessType: AccessType,
  applicableLevels: number,
  nowSeconds: number,
): Basis {
  const { authenticated, organization, document, provider } = subject
  if (!authenticated) return { by: 'unauthenticated' }
  if (organization.disabled) return { by: 'disabledOrganization' }
  if (document?.disabled) return { by: 'disabledDocument' }
  if (provider) return { by: 'provider', answer: provider.answer }
  const grants = Array.from({ length: applicableLevels }, (_, level) => grantAt(subject, level))
  const level = grants.findIndex((one) => isLive(one, nowSeconds))
  const grant = grants[level]
  if (!grant) return { by: accessType === 'public' ? 'public' : 'noGrant' }
  const giver = grants.findIndex((one) => isLive(one, nowSeconds) && !one.hasDefaultRole)
  const roleLevel = giver < 0 ? level : giver
  return { by: 'grant', grant: withRoleOf(grant, grants[roleLevel]), level, roleLevel }
}

function verdictOf(basis: Basis, nowSeconds: number): Verdict {
  switch (basis.by) {
    case 'unauthenticated':
      return deny('unauthenticated')
    case 'disabledOrganization':
    case 'disabledDocument':
      return deny('disabled')
    case 'provider':
      return followProvider(basis.answer, nowSeconds)
    case 'grant':
      return allow(basis.grant)
    case 'public':
      return allow({ accessRole: 'editor' })
    case 'noGrant':
      return deny('no_grant')
  }
}

/** How many levels, from the document upwards, have grants that give access under this access type. */
function countApplicableLevels({ folders }: Subject, { accessType, definedAt }: EffectiveAccess): number {
  if (accessType !== 'restricted') return folders.length + 2
  if (definedAt === 'document') return 1
  if (definedAt === 'default') return folders.length + 1
  return definedAt.folder + 2
}

function grantAt({ document, folders, organization }: Subject, level: number): Grant | undefined {
  if (level === 0) return document?.grant
  return level <= folders.length ? folders[level - 1]?.grant : organization.grant
}

function followProvider(answer: ProviderAnswer | undefined, nowSeconds: number): Verdict {
  if (!answer?.hasAccess) return deny('provider_denied')
  const grant = { accessRole: answer.accessRole ?? 'editor', expiresAt: answer.expiresAt }
  return isLive(grant, nowSeconds) ? allow(grant) : deny('provider_denied')
}

/** Whether the grant exists and has not expired. */
export function isLive(grant: Grant | undefined, nowSeconds: number): grant is Grant {
  if (!grant) return false
  return grant.expiresAt == null || nowSeconds < grant.expiresAt
}

function allow(grant: Grant): Verdict {
  const end = endOf(grant)
  return { allowed: true, accessRole: grant.accessRole, ...(end < Infinity && { expiresAt: end }) }
}

function deny(reason: DenialReason): Verdict {
  return { allowed: false, reason }
}
