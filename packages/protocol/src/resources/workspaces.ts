import Type from 'typebox'
import { AccessType } from '../base/fields.ts'
import { ApiKeyId } from '../base/ids.ts'
import { choice, described, flag, mapOf, text } from '../base/schemas.ts'

export const KeyType = choice(
  ['testing', 'production'],
  'Kind of the API key. Use `testing` for development.',
)

const apiKey = text('Id of the API key.')

export const ApiKeySummary = Type.Object({
  apiKeyName: text('Display name of the API key.'),
  id: apiKey,
  type: KeyType,
})

export const WorkspaceOwner = Type.Object({
  email: text('Email address of the owner.'),
  id: text('Id of the owner.'),
  name: text('Display name of the owner.'),
  avatar: text('URL of a picture of the owner. Empty if none was sent.'),
})

export const Workspace = Type.Object({
  id: text('Id of the workspace.'),
  name: text('Display name of the workspace.'),
  owner: described(WorkspaceOwner, 'The person who owns the workspace.'),
  authToken: text('Secret token for the workspace-level operations.'),
  apiKeyList: mapOf(ApiKeySummary, 'The API keys of the workspace, by id.'),
})
export type Workspace = Type.Static<typeof Workspace>

/** Names an API key of the workspace. */
export const ApiKeyReference = Type.Object({ apiKey: ApiKeyId })

export const NewApiKey = Type.Object({ apiKey: text('Id of the new API key.') })

export const AuthToken = Type.Object({
  token: text('Secret that is sent as `x-svc-auth-token`.'),
  name: text('Display name of the token.'),
  domains: Type.Array(Type.String(), { description: 'The domains whose pages may use the API key.' }),
})

export const ApiKeyAuthTokens = Type.Object({
  apiKey,
  authTokens: Type.Array(AuthToken, { description: 'The auth tokens of the API key.' }),
})

export const NewAuthToken = Type.Object({
  apiKey,
  newAuthToken: described(AuthToken, 'The new auth token. The previous one is no longer accepted.'),
})

const DefaultDocumentAccessType = described(
  AccessType,
  'The `accessType` of documents and folders that neither set nor inherit one.',
)
const DocumentCreation = choice(
  ['clients', 'backends'],
  'Who creates documents. `clients`: also a client that opens a document which does not exist, if its user may write in it. `backends`: only backends, and clients open only documents that exist.',
)
const RequireJwtToken = flag('Stored without effect: clients always need a valid user token.')
const UseAdvancedQueries = flag('Whether the operations that read lists can be called.')

export const RequireAutoOrgUser = flag(
  'Whether users become members of the organizations that their token names when they connect.',
)
export const UseNotificationService = flag('Whether notifications can be added and read.')
export const EnablePrivateComments = flag('Whether users can make comments private. Backends always can.')

/** The options of an API key in a request. */
export const ApiKeyOptions = Type.Object(
  {
    enablePrivateComments: Type.Optional(EnablePrivateComments),
    requireJwtToken: Type.Optional(RequireJwtToken),
    requireAutoOrgUser: Type.Optional(RequireAutoOrgUser),
    defaultDocumentAccessType: Type.Optional(DefaultDocumentAccessType),
    documentCreation: Type.Optional(DocumentCreation),
    useAdvancedQueries: Type.Optional(UseAdvancedQueries),
    useNotificationService: Type.Optional(UseNotificationService),
  },
  { 'x-conditions': { minProperties: 1, additionalProperties: false } },
)

export const PlanInfo = Type.Object({ type: text('Name of the plan.') })

/** The options of an API key in an answer. */
export const ApiKeyConfig = Type.Object({
  ownerEmail: text('Email address of the owner.'),
  planInfo: described(PlanInfo, 'The plan of the API key.'),
  defaultDocumentAccessType: DefaultDocumentAccessType,
  documentCreation: DocumentCreation,
  isPrivateCommentsEnabled: EnablePrivateComments,
  requireJwtToken: RequireJwtToken,
  requireAutoOrgUser: RequireAutoOrgUser,
  useAdvancedQueries: UseAdvancedQueries,
  useNotificationService: UseNotificationService,
})

/** Limits the domains of one call (spec 0.7). */
const maxDomains = 100

/** A URL or a host. `*.` before the host allows all of its subdomains (spec 2). */
const DomainEntry = Type.String({ maxLength: 2000 })

export const AllowedDomains = Type.Array(DomainEntry, {
  maxItems: maxDomains,
  description:
    'The domains whose pages may use the API key, as URLs or hosts. Every domain may if this list is empty and localhost is not added either.',
})

export const DomainsInput = Type.Object({
  domains: Type.Array(DomainEntry, {
    minItems: 1,
    maxItems: maxDomains,
    description: 'Domains, as URLs or hosts. `*.example.com` covers all subdomains of `example.com`.',
  }),
})

/** A workspace of an owner who logged in. */
export const OwnedWorkspace = Type.Object({
  workspaceId: text('Id of the workspace.'),
  name: text('Display name of the workspace.'),
})
export type OwnedWorkspace = Type.Static<typeof OwnedWorkspace>
