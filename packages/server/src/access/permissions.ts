export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type AccessRole = 'viewer' | 'editor'

export interface Grant {
  accessRole: AccessRole
  /** Unix seconds; the grant ends at this second. Absent or null: permanent. */
  expiresAt?: number | null
}

export interface StoredGrant extends Grant {
  /** Epoch milliseconds at which it was granted, changed or removed. A removed grant is stored as expired. */
  setAt: number
}

export interface ProviderAnswer {
  hasAccess: boolean
  accessRole?: AccessRole
  /** Unix seconds, unlike the provider's wire format. */
  expiresAt?: number | null
}

/** One folder or document. `accessType` null inherits from the level above; `grant` is the user's own on this level. */
export interface Level {
  accessType: AccessType | null
  grant?: Grant
}

/** What a decision about a user and an organization is based on. */
export interface OrganizationSubject {
  authenticated: boolean
  organization: { disabled: boolean; grant?: Grant }
  /** Present if the permission provider is on. Then grants are ignored, and a missing answer denies. */
  provider?: { answer: ProviderAnswer | undefined }
}

/** What a decision about a user and a document is based on; without `document`, about the folder `folders[0]`. */
export interface Subject extends OrganizationSubject {
  document?: Level & { disabled: boolean }
  /** From the nearest folder up to the top-level one; empty at root. */
  folders: readonly Level[]
  /** `defaultDocumentAccessType` of the API key. */
  defaultAccessType: AccessType
}

export interface EffectiveAccess {
  accessType: AccessType
  /** `folder` is an index into `folders`. */
  definedAt: 'document' | { folder: number } | 'default'
}

export type DenialReason = 'unauthenticated' | 'disabled' | 'provider_denied' | 'no_grant'

/** `expiresAt` (Unix seconds) is the first time at which the verdict may change without an operation. */
export type Verdict =
  | { allowed: true; accessRole: AccessRole; expiresAt?: number }
  | { allowed: false; reason: DenialReason }

export type Decision = Verdict & { accessType: AccessType }

/** Decides spec 25.4 for a document or a folder. `allowed` means read; `canWrite` decides about writing. */
export function decide(subject: Subject, nowSeconds: number): Decision {
  const access = effectiveAccess(subject)
  return { ...enter(subject, access, nowSeconds), accessType: access.accessType }
}

/** Restricts a decision to at most this grant. */
export function limit(decision: Decision, grant: Grant | undefined, nowSeconds: number): Decision {
  if (!decision.allowed) return decision
  const { accessType } = decision
  if (!isLive(grant, nowSeconds)) return { ...deny('no_grant'), accessType }
  const accessRole = grant.accessRole === 'viewer' ? 'viewer' : decision.accessRole
  const expiresAt = Math.min(decision.expiresAt ?? Infinity, grant.expiresAt ?? Infinity)
  return { ...allow({ accessRole, ...(expiresAt < Infinity && { expiresAt }) }), accessType }
}

/** Organizations have no access type: only a grant gives access. A membership is a grant. */
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
 * The grant of a session on one resource: the more recent of the token's and the stored one applies (spec 25.3). A stored
 * grant that ended or was removed overrides older tokens. When the token's grant ends, the stored one applies again. Merge at
 * each decision, not at sign-in.
 */
export function mergeGrants(
  stored: StoredGrant | undefined,
  token: (Grant & { issuedAt: number }) | undefined,
  nowSeconds: number,
): Grant | undefined {
  const tokenIsNewer = token && (!stored || token.issuedAt > stored.setAt)
  return [tokenIsNewer ? token : undefined, stored].find((grant) => isLive(grant, nowSeconds))
}

function enter(subject: Subject, access: EffectiveAccess, nowSeconds: number): Verdict {
  const { authenticated, organization, document, provider } = subject
  if (!authenticated) return deny('unauthenticated')
  if (organization.disabled || document?.disabled) return deny('disabled')
  if (provider) return followProvider(provider.answer, nowSeconds)

  const mostSpecific = applicableGrants(subject, access).find((grant) => isLive(grant, nowSeconds))
  if (mostSpecific) return allow(mostSpecific)
  return access.accessType === 'public' ? allow({ accessRole: 'editor' }) : deny('no_grant')
}

/** The grants that give access under this access type, most specific first. */
function applicableGrants(
  subject: Subject,
  { accessType, definedAt }: EffectiveAccess,
): (Grant | undefined)[] {
  const document = subject.document?.grant
  const folders = subject.folders.map((folder) => folder.grant)
  if (accessType !== 'restricted') return [document, ...folders, subject.organization.grant]
  if (definedAt === 'document') return [document]
  if (definedAt === 'default') return [document, ...folders]
  return [document, ...folders.slice(0, definedAt.folder + 1)]
}

function followProvider(answer: ProviderAnswer | undefined, nowSeconds: number): Verdict {
  if (!answer?.hasAccess) return deny('provider_denied')
  const grant = { accessRole: answer.accessRole ?? 'editor', expiresAt: answer.expiresAt }
  return isLive(grant, nowSeconds) ? allow(grant) : deny('provider_denied')
}

function isLive(grant: Grant | undefined, nowSeconds: number): grant is Grant {
  if (!grant) return false
  return grant.expiresAt == null || nowSeconds < grant.expiresAt
}

function allow({ accessRole, expiresAt }: Grant): Verdict {
  return expiresAt == null ? { allowed: true, accessRole } : { allowed: true, accessRole, expiresAt }
}

function deny(reason: DenialReason): Verdict {
  return { allowed: false, reason }
}
