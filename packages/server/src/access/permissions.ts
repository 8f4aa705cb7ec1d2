export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type AccessRole = 'viewer' | 'editor'

export interface Grant {
  accessRole: AccessRole
  /** Unix seconds; the grant is void from this second on. Absent or null: permanent. */
  expiresAt?: number | null
}

export interface StoredGrant extends Grant {
  /** Epoch milliseconds at which it was granted, changed or removed. A removed one has expired. */
  setAt: number
}

export interface ProviderAnswer {
  hasAccess: boolean
  accessRole?: AccessRole
  /** Unix seconds, unlike the provider's wire format. */
  expiresAt?: number | null
}

/** One folder or document: `accessType` null inherits from above, `grant` is the user's own on this level. */
export interface Level {
  accessType: AccessType | null
  grant?: Grant
}

/** What is known of a user and an organization. */
export interface OrganizationSubject {
  authenticated: boolean
  organization: { disabled: boolean; grant?: Grant }
  /** Present when the permission provider is on; then grants are not looked at and a missing answer denies. */
  provider?: { answer: ProviderAnswer | undefined }
}

/** What is known of a user and a document, or without `document` the folder `folders[0]`. */
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

/** `expiresAt` (Unix seconds) is the first moment at which time alone can change the verdict. */
export type Verdict =
  | { allowed: true; accessRole: AccessRole; expiresAt?: number }
  | { allowed: false; reason: DenialReason }

export type Decision = Verdict & { accessType: AccessType }

/** Spec 25.4 for a document or a folder. Allowed means read; for write ask `canWrite`. */
export function decide(subject: Subject, nowSeconds: number): Decision {
  const access = effectiveAccess(subject)
  return { ...enter(subject, access, nowSeconds), accessType: access.accessType }
}

/** What is left of a decision for a session that may do no more than that grant says. */
export function limit(decision: Decision, grant: Grant | undefined, nowSeconds: number): Decision {
  if (!decision.allowed) return decision
  const { accessType } = decision
  if (!isLive(grant, nowSeconds)) return { ...deny('no_grant'), accessType }
  const accessRole = grant.accessRole === 'viewer' ? 'viewer' : decision.accessRole
  const expiresAt = Math.min(decision.expiresAt ?? Infinity, grant.expiresAt ?? Infinity)
  return { ...allow({ accessRole, ...(expiresAt < Infinity && { expiresAt }) }), accessType }
}

/** Organizations have no access type: only a grant (membership is one) opens them. */
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

/** Spec 25.2. */
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
 * The grant of a session on one resource: of the token's and the stored one the more recent counts (spec 25.3). A stored
 * one that is over, or was removed, still silences a token that is older; once that of the token is over, the stored one
 * is back. Merge at each decision, not at sign-in.
 */
export function mergeGrants(
  stored: StoredGrant | undefined,
  token: (Grant & { issuedAt: number }) | undefined,
  nowSeconds: number,
): Grant | undefined {
  const tokenCounts = token && (!stored || token.issuedAt > stored.setAt)
  return [tokenCounts ? token : undefined, stored].find((grant) => isLive(grant, nowSeconds))
}

function enter(subject: Subject, access: EffectiveAccess, nowSeconds: number): Verdict {
  const { authenticated, organization, document, provider } = subject
  if (!authenticated) return deny('unauthenticated')
  if (organization.disabled || document?.disabled) return deny('disabled')
  if (provider) return followProvider(provider.answer, nowSeconds)

  const mostSpecific = countingGrants(subject, access).find((grant) => isLive(grant, nowSeconds))
  if (mostSpecific) return allow(mostSpecific)
  return access.accessType === 'public' ? allow({ accessRole: 'editor' }) : deny('no_grant')
}

/** The grants that let in under this access type, most specific first. */
function countingGrants(subject: Subject, { accessType, definedAt }: EffectiveAccess): (Grant | undefined)[] {
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
