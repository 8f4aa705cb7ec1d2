import type { ExplainedDecision, ExplainedLevel } from '@plenum/protocol'
import {
  type AccessType,
  type Basis,
  canWrite,
  decideWithReasons,
  type Grant,
  isLive,
  type ProviderAnswer,
  type Reasoning,
} from '../../access/permissions.ts'
import type { SubjectInTree } from '../../access/subjects.ts'
import { removed } from '../../store/access/removed-grants.ts'
import {
  decidesBeforeGrants,
  describeDecision,
  describeDefault,
  describeLevel,
  type Level,
  type Situation,
} from './sentences.ts'

export interface Ids {
  apiKey: string
  organizationId: string
  /** Undefined: the decision is about a folder. */
  documentId?: string | undefined
}

/** Decides about the subject, and explains the decision. */
export function explainDecision(subject: SubjectInTree, ids: Ids, nowSeconds: number): ExplainedDecision {
  const reasoning = decideWithReasons(subject, nowSeconds)
  const situation = situationOf(subject, reasoning, ids, nowSeconds)
  const { decision, basis } = reasoning
  const { accessType, definer } = situation
  const { document, organization, provider, defaultAccessType } = subject
  return {
    canRead: decision.allowed,
    canWrite: canWrite(decision),
    ...(decision.allowed && {
      accessRole: decision.accessRole,
      ...(decision.expiresAt !== undefined && { expiresAt: decision.expiresAt }),
    }),
    rule: ruleOf(basis, accessType),
    message: describeDecision(situation, nowSeconds),
    accessType,
    definedAt: definer ? { type: definer.type, id: definer.id } : { type: 'apiKey', id: ids.apiKey },
    ...(document && { disabled: document.disabled }),
    organizationDisabled: organization.disabled,
    ...(provider && { provider: presentAnswer(provider.answer) }),
    levels: [
      ...situation.levels.map((level) => presentLevel(level, situation)),
      {
        type: 'apiKey',
        id: ids.apiKey,
        accessType: defaultAccessType,
        message: describeDefault(situation),
      },
    ],
  }
}

function situationOf(
  { document, folders, organization }: SubjectInTree,
  { access, basis, applicableLevels }: Reasoning,
  { organizationId, documentId = '' }: Ids,
  nowSeconds: number,
): Situation {
  const { accessType, definedAt } = access
  const withState = <T extends { grant?: Grant | undefined }>(level: T) => ({
    ...level,
    ...(level.grant && { state: stateOf(level.grant, nowSeconds) }),
  })
  /** Numbered as in `Basis`. */
  const numbered = [
    document && withState({ ...document, type: 'document' as const, id: documentId }),
    ...folders.map((folder) => withState({ ...folder, type: 'folder' as const })),
    withState({ ...organization, type: 'organization' as const, id: organizationId }),
  ].map((level, number): Level | undefined => level && { ...level, isApplicable: number < applicableLevels })
  const definer = definedAt === 'document' ? 0 : definedAt === 'default' ? Infinity : definedAt.folder + 1
  return {
    kind: document ? 'document' : 'folder',
    accessType,
    basis,
    levels: numbered.filter((level) => level !== undefined),
    definer: numbered[definer],
    decider: basis.by === 'grant' ? numbered[basis.level] : undefined,
    roleGiver: basis.by === 'grant' ? numbered[basis.roleLevel] : undefined,
  }
}

function stateOf(grant: Grant, nowSeconds: number): NonNullable<Level['state']> {
  if (grant.expiresAt === removed) return 'removed'
  return isLive(grant, nowSeconds) ? 'live' : 'expired'
}

/** The rule of docs/spec.md that decides. */
function ruleOf(basis: Basis, accessType: AccessType): string {
  switch (basis.by) {
    case 'unauthenticated':
      return '7.1.2'
    case 'grant':
      return '25.4.1'
    case 'disabledOrganization':
    case 'disabledDocument':
      return '25.4.6'
    case 'public':
      return '25.4.3'
    case 'noGrant':
      return accessType === 'restricted' ? '25.4.5' : '25.4.4'
    case 'provider':
      return '25.4.2'
  }
}

function presentLevel(level: Level, situation: Situation): ExplainedLevel {
  const { type, id, accessType, grant, state, isApplicable } = level
  return {
    type,
    id,
    ...(accessType && { accessType }),
    ...(type !== 'organization' && { inheritAccessFromParent: !accessType }),
    ...(grant &&
      state && {
        grant: {
          ...(state !== 'removed' && { accessRole: grant.accessRole }),
          ...(state !== 'removed' && grant.hasDefaultRole && { isDefaultRole: true }),
          ...(state !== 'removed' && grant.expiresAt != null && { expiresAt: grant.expiresAt }),
          state,
          source: grant.issuedAt === undefined ? 'stored' : 'token',
          applies: isApplicable && state === 'live' && !decidesBeforeGrants(situation.basis),
        },
      }),
    message: describeLevel(level, situation),
  }
}

const presentAnswer = (answer: ProviderAnswer | undefined): NonNullable<ExplainedDecision['provider']> => ({
  hasAccess: answer?.hasAccess ?? false,
  ...(answer?.accessRole && { accessRole: answer.accessRole }),
  ...(answer?.expiresAt != null && { expiresAt: answer.expiresAt }),
})
