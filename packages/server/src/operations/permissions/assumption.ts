import { ApiError, type AssumedToken, type Assumption } from '@plenum/protocol'
import { isLive, mergeGrants, type StoredGrant } from '../../access/permissions.ts'
import type { Overlay, SubjectInTree } from '../../access/subjects.ts'
import { type TokenGrant, userTokenSeconds } from '../../access/tokens/token-claims.ts'
import { removed } from '../../store/access/removed-grants.ts'
import { readGrants, readLevels } from '../shared/permission-resources.ts'

export interface GrantsDeps {
  organizationId: string
  /** When the user was last removed from the organization and all its contents, in Unix milliseconds. 0: never. */
  removedAt: number
  /** Unix milliseconds. */
  now: number
}

/** The grants that the user would have. A grant that has ended stays, because the explanation shows it. */
export function assumedGrants(assume: Assumption, { organizationId, removedAt, now }: GrantsDeps): Overlay {
  const inOrganization = <T>(resource: T) => ({ ...resource, organizationId })
  const changes = new Map<string, StoredGrant>()
  for (const level of readLevels((assume.removeGrants ?? []).map(inOrganization)))
    changes.set(keyOf(level), { accessRole: 'viewer', expiresAt: removed, setAt: now })
  for (const { level, ...grant } of readGrants((assume.addGrants ?? []).map(inOrganization)))
    changes.set(keyOf(level), { ...grant, setAt: now })
  const token = new Map(
    grantsIn(assume.token)
      .filter((grant) => grant.organizationId === organizationId)
      .map((grant) => [keyOf(grant), grant]),
  )
  return (type, id, stored) => {
    const key = keyOf({ type, id })
    const changed = withStoredRole(changes.get(key), stored, now) ?? stored
    const granted = token.get(key)
    // As for sessions: tokens from before the user was removed from the organization grant nothing in it.
    if (granted && granted.issuedAt <= removedAt) return changed ?? { ...granted, expiresAt: removed }
    return mergeGrants(changed, granted, Math.floor(now / 1000)) ?? changed ?? granted
  }
}

/** As `permissions.add`: a grant without a role keeps the role of the grant that it replaces. */
function withStoredRole(
  changed: StoredGrant | undefined,
  stored: StoredGrant | undefined,
  now: number,
): StoredGrant | undefined {
  if (!changed?.hasDefaultRole || !stored || !isLive(stored, now / 1000)) return changed
  const { accessRole, hasDefaultRole = false, roleSetAt = stored.setAt } = stored
  return { ...changed, accessRole, hasDefaultRole, roleSetAt }
}

/** Throws if an assumed grant is on something else than a level of the subject: it could never have an effect. */
export function requireLevels(
  { addGrants = [], removeGrants = [] }: Assumption,
  subject: SubjectInTree,
  { organizationId, documentId }: { organizationId: string; documentId?: string | undefined },
): void {
  const known = new Set([
    keyOf({ type: 'organization', id: organizationId }),
    ...(documentId === undefined ? [] : [keyOf({ type: 'document', id: documentId })]),
    ...subject.folders.map(({ id }) => keyOf({ type: 'folder', id })),
  ])
  for (const [field, levels] of Object.entries({ addGrants, removeGrants })) {
    const index = levels.findIndex((level) => !known.has(keyOf(level)))
    if (index < 0) continue
    throw new ApiError(
      'INVALID_ARGUMENT',
      `assume.${field}[${index}] must be the explained document or folder, a folder above it, or the organization.`,
    )
  }
}

/** Applies the changes that concern neither grants nor the place of the document. */
export function assumedSubject(subject: SubjectInTree, assume: Assumption, now: number): SubjectInTree {
  const { accessType, disabled, organizationDisabled, defaultDocumentAccessType, token } = assume
  const { document, folders, organization, defaultAccessType } = subject
  const own = accessType && { accessType }
  return {
    ...subject,
    authenticated: !hasExpired(token, now),
    organization: { ...organization, disabled: organizationDisabled ?? organization.disabled },
    ...(document && { document: { ...document, ...own, disabled: disabled ?? document.disabled } }),
    folders: document
      ? folders
      : folders.map((folder, index) => (index === 0 ? { ...folder, ...own } : folder)),
    defaultAccessType: defaultDocumentAccessType ?? defaultAccessType,
  }
}

/** A token without a time of issue is newer than every stored grant. */
const grantsIn = (token: AssumedToken | undefined): TokenGrant[] =>
  readGrants(token?.resources ?? [], 'assume.token.resources').map(({ level, ...grant }) => ({
    ...level,
    ...grant,
    issuedAt: token?.issuedAtMs ?? Infinity,
  }))

const hasExpired = (token: AssumedToken | undefined, now: number) =>
  token?.issuedAtMs !== undefined && Math.floor(token.issuedAtMs / 1000) + userTokenSeconds <= now / 1000

const keyOf = ({ type, id }: { type: string; id: string }) => `${type}\0${id}`
