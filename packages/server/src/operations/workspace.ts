import { ApiError, type Operations, type Workspace } from '@plenum/protocol'
import { mintAuthToken } from '../access/credentials/auth-tokens.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { Handlers } from '../calls/call.ts'
import type { Db } from '../store/engine/db.ts'
import * as workspaces from '../store/workspaces.ts'
import { readOwnerEmail } from './shared/new-key.ts'
import { addWorkspace } from './shared/new-workspace.ts'
import { isHttpUrl } from './shared/urls.ts'

export const workspaceHandlers: Handlers<Operations['workspace']> = {
  async create({
    input,
    db,
    now,
    services: { secrets, isDisposable, limits, workspaceCreation, newKeyOptions, lock },
  }) {
    if (workspaceCreation === 'closed') {
      throw new ApiError(
        'PERMISSION_DENIED',
        'Creating workspaces is closed on this server (WORKSPACE_CREATION).',
      )
    }
    const email = readOwnerEmail(input.ownerEmail)
    if (input.avatar && !isHttpUrl(input.avatar)) {
      throw new ApiError('INVALID_ARGUMENT', 'avatar must be a valid http(s) URL.')
    }
    if (isDisposable(email))
      throw new ApiError('INVALID_ARGUMENT', 'Disposable email domains are not allowed.')
    await lock(db, `owner/${email}`)
    if ((await workspaces.countOfOwner(db, email)) >= limits.workspacesPerOwner) {
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        'You have reached the maximum number of workspaces allowed for this email address.',
      )
    }
    const name = input.name?.trim() ?? email
    const workspace = await addWorkspace(db, {
      name: input.workspaceName?.trim() ?? `${name} workspace`,
      owner: { email, name, avatar: input.avatar ?? '' },
      newKeyOptions,
      now,
    })
    return present(db, secrets, workspace)
  },

  async get({ caller, db, services: { secrets } }) {
    const workspace = await workspaces.find(db, caller.workspaceId)
    if (!workspace) throw new ApiError('NOT_FOUND', 'Workspace not found.')
    return present(db, secrets, workspace)
  },
}

/** The workspace as callers read it, including its auth token. */
async function present(
  db: Db,
  { authTokenKey }: Secrets,
  workspace: workspaces.Workspace,
): Promise<Workspace> {
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
