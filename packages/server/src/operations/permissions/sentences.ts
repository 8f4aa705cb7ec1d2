import type { AccessRole, AccessType, Basis, Grant, ProviderAnswer } from '../../access/permissions.ts'

/** A level on which a user can have a grant. */
export interface Level {
  type: 'document' | 'folder' | 'organization'
  id: string
  /** The access type that is set here. */
  accessType?: AccessType | null
  grant?: Grant | undefined
  /** Present if there is a grant. */
  state?: 'live' | 'expired' | 'removed'
  /** Whether grants on this level give access under the access type. */
  isApplicable: boolean
}

/** A decision and its reasons. */
export interface Situation {
  /** What the decision is about. It is the first level. */
  kind: 'document' | 'folder'
  accessType: AccessType
  basis: Basis
  levels: readonly Level[]
  /** The level that sets the access type. Undefined: it is the default of the API key. */
  definer: Level | undefined
  /** The level whose grant decides, if one does. */
  decider: Level | undefined
  /** The level whose grant gives the role, if a grant decides. */
  roleGiver: Level | undefined
}

/** Why the user may do this and no more, and what would give access to a user who has none. */
export function describeDecision(situation: Situation, nowSeconds: number): string {
  const { basis, kind, decider } = situation
  switch (basis.by) {
    case 'unauthenticated':
      return 'The token has expired: a token is valid for 48 hours. Issue a new one with auth.generateToken.'
    case 'disabledOrganization':
      return 'The organization is disabled, so no user has access. organizations.updateDisableState enables it.'
    case 'disabledDocument':
      return 'The document is disabled, so no user has access. documents.updateDisableState enables it.'
    case 'provider':
      return describeAnswer(basis.answer, nowSeconds)
    case 'grant':
      return `The most specific grant that applies is the one on ${nameOf(decider)}. ${describeGivenRole(situation, basis.grant)}`
    case 'public':
      return `${describeType(situation)} Every user may read and write it, unless a grant makes the user a viewer. ${describeMissing(situation)}`
    case 'noGrant':
      return `${describeType(situation)} ${describeAudience(situation)} ${describeMissing(situation)} To give access, add a grant on the ${kind} with permissions.add.`
  }
}

/** What the grant of the user on this level contributes to the decision. */
export const describeLevel = (level: Level, situation: Situation): string =>
  describeGrant(level, level.type === 'organization' ? 'the organization' : `this ${level.type}`, situation)

/** Whether the default of the API key applies. */
export const describeDefault = ({ definer }: Situation): string =>
  definer
    ? `The default of the API key does not apply, because ${nameOf(definer)} sets an access type.`
    : 'The default of the API key applies, because no level below it sets an access type.'

/** `where` names the level in the sentence. */
function describeGrant(level: Level, where: string, situation: Situation): string {
  const { grant, state, isApplicable } = level
  if (!grant) return `The user has no grant on ${where}.`
  const isInToken = grant.issuedAt !== undefined
  if (state === 'removed') {
    return isInToken
      ? 'The user was removed from the organization after the token was issued, so the token gives no access to it.'
      : `The grant on ${where} was removed. The removal also overrides tokens that were issued before it.`
  }
  const subject = `The grant ${isInToken ? 'of the token ' : ''}on ${where}`
  if (state === 'expired') return `${subject} expired at ${timeOf(grant.expiresAt ?? 0)}.`
  const blocker = blockers[situation.basis.by]
  if (blocker) return `${subject} does not apply ${blocker}.`
  if (!isApplicable) return `${subject} does not apply: ${whyNotApplicable(level, situation)}.`
  return `${subject} ${describeContribution(level, grant, situation)}.`
}

/** What a grant that applies contributes. */
function describeContribution(level: Level, grant: Grant, { decider, roleGiver }: Situation): string {
  if (decider !== level && roleGiver !== level)
    return `applies, but the one on ${nameOf(roleGiver)} is more specific and gives the role`
  if (decider !== level)
    return `gives the role ${grant.accessRole}, because nobody sent one for ${nameOf(decider)}`
  if (roleGiver !== level) return 'gives access. Nobody sent a role with it'
  if (grant.hasDefaultRole)
    return `gives the role ${grant.accessRole}, the default. Nobody sent a role with it`
  return `gives the role ${grant.accessRole}`
}

function describeGivenRole({ decider, roleGiver }: Situation, grant: Grant): string {
  if (roleGiver !== decider)
    return `Nobody sent a role with it, so the one on ${nameOf(roleGiver)} gives it. ${describeRole(grant.accessRole)}`
  const role = describeRole(grant.accessRole)
  if (!grant.hasDefaultRole) return role
  return `${role} This is the default, because nobody sent a role. In sessions whose token has a role, that role applies.`
}

/** What decides before grants, as the reason why no grant applies. */
const blockers: Partial<Record<Basis['by'], string>> = {
  unauthenticated: 'because the token has expired',
  disabledOrganization: 'while the organization is disabled',
  disabledDocument: 'while the document is disabled',
  provider: 'because the permission provider decides',
}

export const decidesBeforeGrants = ({ by }: Basis): boolean => by in blockers

/** Why a grant on this level does not apply. The access type is `restricted`: under the others, all grants apply. */
function whyNotApplicable({ type }: Level, { definer, kind }: Situation): string {
  if (type === 'organization') return `grants on the organization do not open restricted ${kind}s`
  if (definer?.type === 'document')
    return 'grants on folders do not open a document that is itself restricted'
  return `only grants on ${nameOf(definer)}, which is restricted, or below it do`
}

/** Where the access type comes from. */
function describeType({ kind, accessType, definer, levels }: Situation): string {
  if (!definer) return `The ${kind} has the default access type of the API key, ${accessType}.`
  if (definer === levels[0]) return `The ${kind} is ${accessType}.`
  return `The ${kind} inherits ${accessType} from ${nameOf(definer)}.`
}

/** Whose grants give access. */
function describeAudience({ kind, accessType, definer, levels }: Situation): string {
  const needs = (others: string) => `Only users with a grant on the ${kind}${others} have access.`
  if (accessType !== 'restricted') return needs(', on a folder above it or on the organization')
  if (!definer) return needs(' or on a folder above it')
  return needs(definer === levels[0] ? ' itself' : ', on that folder or on a folder between them')
}

/** Why no grant of the user applies: the most specific grant that the user has or had tells most. */
function describeMissing(situation: Situation): string {
  const level = situation.levels.find(({ grant }) => grant)
  return level ? describeGrant(level, nameOf(level), situation) : 'The user has no grant on any level.'
}

function describeAnswer(answer: ProviderAnswer | undefined, nowSeconds: number): string {
  if (!answer) return 'The permission provider has not answered, so the user has no access.'
  if (!answer.hasAccess) return 'The permission provider denies access.'
  if (answer.expiresAt != null && answer.expiresAt <= nowSeconds)
    return `The answer of the permission provider expired at ${timeOf(answer.expiresAt)}.`
  return `The permission provider gives access. ${describeRole(answer.accessRole ?? 'editor')}`
}

const describeRole = (role: AccessRole) =>
  `It gives the role ${role}: the user may ${role === 'editor' ? 'read and write' : 'read, but not write'}.`

const nameOf = (level: Level | undefined) =>
  level?.type === 'folder' ? `the folder ${level.id}` : `the ${level?.type ?? 'API key'}`

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
