import Type from 'typebox'
import { AccessRole, AccessType, EffectiveAccessType } from '../base/fields.ts'
import { ChosenId } from '../base/ids.ts'
import { choice, described, flag, maxBatchItems, text } from '../base/schemas.ts'
import { PermissionResource, ResourceReference } from './permissions.ts'

const { type, id } = ResourceReference.properties
const { accessRole, expiresAt } = PermissionResource.properties

/** A level of the explained document or folder. Its organization is the one of the call. */
export const AssumedLevel = Type.Object({ type, id })
export const AssumedGrant = Type.Object({ type, id, accessRole, expiresAt })

/** A token of the user, which the server does not store. */
export const AssumedToken = Type.Object({
  resources: Type.Optional(
    Type.Array(PermissionResource, {
      maxItems: maxBatchItems,
      description:
        '`permissions.resources` of the token. Resources that are not levels of the document or folder have no effect. Default: none.',
    }),
  ),
  issuedAtMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'The claim `issuedAtMs` of the token: when it was issued, as Unix time in milliseconds. Default: after the last change of any grant.',
    }),
  ),
})
export type AssumedToken = Type.Static<typeof AssumedToken>

/** Changes that are not made (spec 7.9.2). The fields have the names that they have in the operations that make them. */
export const Assumption = Type.Object({
  addGrants: Type.Optional(
    Type.Array(AssumedGrant, {
      maxItems: maxBatchItems,
      description:
        'Grants that the user gets: on the document, on a folder around it, or on the organization. As `permissions.add`.',
    }),
  ),
  removeGrants: Type.Optional(
    Type.Array(AssumedLevel, {
      maxItems: maxBatchItems,
      description:
        'Levels on which the user loses the grant. As `permissions.remove`. A level that is also in `addGrants` has the new grant.',
    }),
  ),
  accessType: Type.Optional(described(AccessType, 'The own access type of the document or folder.')),
  folderId: Type.Optional(
    described(
      ChosenId,
      'The folder that the document is moved to. `root` moves it out of all folders. Needs `documentId`.',
    ),
  ),
  disabled: Type.Optional(flag('Whether the document is disabled. Needs `documentId`.')),
  organizationDisabled: Type.Optional(flag('Whether the organization is disabled.')),
  defaultDocumentAccessType: Type.Optional(
    described(AccessType, '`defaultDocumentAccessType` of the API key.'),
  ),
  token: Type.Optional(described(AssumedToken, 'The token of the session in which the user opens it.')),
})
export type Assumption = Type.Static<typeof Assumption>

const LevelType = choice(
  ['document', 'folder', 'organization', 'apiKey'],
  'Kind of the level. `apiKey` is the default of the API key.',
)
const levelId = text('Id of the document, folder, organization or API key.')

export const LevelReference = Type.Object({ type: LevelType, id: levelId })

export const ExplainedGrant = Type.Object({
  accessRole: Type.Optional(described(AccessRole, 'The role that the grant gives. Absent: removed.')),
  isDefaultRole: Type.Optional(
    flag(
      'True: nobody sent the role. If another grant that applies has a role that somebody sent, that role applies.',
    ),
  ),
  expiresAt: Type.Optional(
    Type.Integer({ description: 'When the grant expires, in Unix seconds. Absent: never, or removed.' }),
  ),
  state: choice(['live', 'expired', 'removed'], 'Whether the grant has ended.'),
  source: choice(['stored', 'token'], 'Where the grant is: stored on the server, or in the assumed token.'),
  applies: flag(
    'Whether the grant gives access under the access type. If several grants apply, the first one in the list gives the role.',
  ),
})

/** One level in the explanation of a decision. */
export const ExplainedLevel = Type.Object({
  type: LevelType,
  id: levelId,
  accessType: Type.Optional(
    described(AccessType, 'The access type that is set at this level. Absent: none is set.'),
  ),
  inheritAccessFromParent: Type.Optional(
    flag('Whether the document or folder inherits its access type. Absent for other levels.'),
  ),
  grant: Type.Optional(described(ExplainedGrant, 'The grant of the user at this level. Absent: none.')),
  message: text('What this level contributes, in one or two sentences.'),
})
export type ExplainedLevel = Type.Static<typeof ExplainedLevel>

export const ExplainedProvider = Type.Object({
  hasAccess: flag('Whether the permission provider gives access. False if it gave no answer.'),
  accessRole: Type.Optional(described(AccessRole, 'The role in the answer. Absent: `editor`.')),
  expiresAt: Type.Optional(
    Type.Integer({ description: 'When the answer expires, in Unix seconds. Absent: not in the answer.' }),
  ),
})

/** What a user may do with a document or folder, and why. */
export const ExplainedDecision = Type.Object({
  canRead: flag('Whether the user may read.'),
  canWrite: flag('Whether the user may write.'),
  accessRole: Type.Optional(described(AccessRole, 'The role of the user. Absent: the user has no access.')),
  expiresAt: Type.Optional(
    Type.Integer({ description: 'When the grant that decided expires, in Unix seconds. Absent: never.' }),
  ),
  rule: text('Number of the rule of the specification that decided.'),
  message: text('Why the rule applies and, if the user has no access, what would give it.'),
  accessType: EffectiveAccessType,
  definedAt: described(LevelReference, 'The level that sets the access type.'),
  disabled: Type.Optional(flag('Whether the document is disabled. Absent for a folder.')),
  organizationDisabled: flag('Whether the organization is disabled.'),
  provider: Type.Optional(
    described(ExplainedProvider, 'The answer of the permission provider. Absent: it is not used.'),
  ),
  levels: Type.Array(ExplainedLevel, {
    description:
      'The document, its folders from the nearest to the top level, the organization, and the default of the API key.',
  }),
})
export type ExplainedDecision = Type.Static<typeof ExplainedDecision>

export const PermissionExplanation = Type.Object({
  userExists: flag('Whether the user is stored. An unknown user is explained as a user without grants.'),
  documentExists: Type.Optional(
    flag(
      'Whether the document is stored. An unknown document is explained as if the user had just opened it. Absent for a folder.',
    ),
  ),
  now: described(ExplainedDecision, 'The decision for a session without grants in its token.'),
  assumed: Type.Optional(
    described(ExplainedDecision, 'The decision after the changes in `assume`. Absent without `assume`.'),
  ),
  differs: Type.Optional(
    flag('Whether `canRead` or `canWrite` differ between `now` and `assumed`. Absent without `assume`.'),
  ),
})
export type PermissionExplanation = Type.Static<typeof PermissionExplanation>
