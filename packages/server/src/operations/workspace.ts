import { ApiError, type Operations, type Workspace } from '@plenum/protocol'
import { mintAuthToken } from '../access/auth-tokens.ts'
import { normalizeEmail } from '../access/emails.ts'
import { newId } from '../access/ids.ts'
import type { Secrets } from '../access/secrets.ts'
import type { Handlers } from '../handler.ts'
import * as apiKeys from '../store/api-keys.ts'
import { defaultOptions } from '../store/api-keys.ts'
import type { Db } from '../store/db.ts'
import * as domains from '../store/domains.ts'
import * as workspaces from '../store/workspaces.ts'
import { isHttpUrl } from './urls.ts'

/** Allowed from the start, so that a developer's page works at once (spec 1.1). */
export const localDomains = ['localhost', '127.0.0.1']

/** `owner@example.com` → `Owner Test API Key` (spec 1.1, 1.3). */
export function defaultKeyName(ownerEmail: string, type: 'testing' | 'production'): string {
  const [local = ''] = ownerEmail.split('@')
  return `${local.charAt(0).toUpperCase()}${local.slice(1)} ${type === 'testing' ? 'Test' : 'Production'} API Key`
}

/** The name of the token that comes with a key. */
export const newAuthToken = (now: number): apiKeys.AuthToken => ({
  tokenId: newId('tok'),
  issuedAt: now,
  name: 'Default Auth Token',
  domains: [],
})

export const workspaceHandlers: Handlers<Operations['workspace']> = {
  async create({ input, db, now, secrets, isDisposable, limits, lock }) {
    const email = normalizeEmail(input.ownerEmail)
    if (email === null) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        input.ownerEmail.trim() === '' ? 'ownerEmail is required.' : 'ownerEmail must be a valid email address.',
      )
    }
    if (input.avatar && !isHttpUrl(input.avatar)) {
      throw new ApiError('INVALID_ARGUMENT', 'avatar must be a valid http(s) URL.')
    }
    if (isDisposable(email)) throw new ApiError('INVALID_ARGUMENT', 'Disposable email domains are not allowed.')
    await lock(db, `owner/${email}`)
    if ((await workspaces.countOfOwner(db, email)) >= limits.workspacesPerOwner) {
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        'You have reached the maximum number of workspaces allowed for this email address.',
      )
    }
    const name = input.name?.trim() ?? email
    const workspace = {
      workspaceId: newId('ws'),
      name: input.workspaceName?.trim() ?? `${name} workspace`,
      owner: { email, id: newId('own'), name, avatar: input.avatar ?? '' },
      token: { tokenId: newId('tok'), issuedAt: now },
    }
    await workspaces.add(db, workspace, now)
    const apiKey = newId('key')
    await apiKeys.add(
      db,
      {
        apiKey,
        workspaceId: workspace.workspaceId,
        name: defaultKeyName(email, 'testing'),
        type: 'testing',
        ownerEmail: email,
        options: defaultOptions,
      },
      now,
    )
    await apiKeys.replaceTokens(db, apiKey, newAuthToken(now))
    await domains.add(db, apiKey, localDomains)
    return present(db, secrets, workspace)
  },

  async get({ caller, db, secrets }) {
    const workspace = await workspaces.find(db, caller.workspaceId)
    if (!workspace) throw new ApiError('NOT_FOUND', 'Workspace not found.')
    return present(db, secrets, workspace)
  },
}

/** The workspace as it is read, its token included. */
async function present(db: Db, { authTokenKey }: Secrets, workspace: workspaces.Workspace): Promise<Workspace> {
  const { workspaceId, name, owner, token } = workspace
  const keys = await workspaces.apiKeys(db, workspaceId)
  return {
    id: workspaceId,
    name,
    owner,
    authToken: mintAuthToken(authTokenKey, workspaceId, token),
    apiKeyList: Object.fromEntries(
      keys.map(({ apiKey, name, type }) => [apiKey, { apiKeyName: name, id: apiKey, type }]),
    ),
  }
}
