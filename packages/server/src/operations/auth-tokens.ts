import { ApiError, type Operations } from '@plenum/protocol'
import { mintAuthToken } from '../access/credentials/auth-tokens.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { Handlers } from '../calls/call.ts'
import * as apiKeys from '../store/api-keys.ts'
import type { Db } from '../store/engine/db.ts'
import { newAuthToken } from './shared/new-key.ts'

export const authTokenHandlers: Handlers<Operations['authTokens']> = {
  async get({ input: { apiKey }, caller, db, services: { secrets } }) {
    const { tokens } = await ownKey(db, caller.workspaceId, apiKey)
    return { apiKey, authTokens: tokens.map((token) => present(secrets, apiKey, token)) }
  },

  async reset({
    input: { apiKey },
    caller,
    db,
    now,
    afterCommit,
    signal,
    services: { secrets, credentials, lock },
  }) {
    // Without the lock, two concurrent resets would each add a token.
    await lock(db, `auth-tokens/${apiKey}`)
    await ownKey(db, caller.workspaceId, apiKey)
    const token = newAuthToken(now)
    await apiKeys.replaceTokens(db, apiKey, token)
    afterCommit(() => credentials.drop(apiKey))
    signal({ kind: 'credentials' })
    return { apiKey, newAuthToken: present(secrets, apiKey, token) }
  },
}

/** The API key, if it belongs to the workspace. Otherwise throws the same error as for an API key that does not exist. */
async function ownKey(db: Db, workspaceId: string, apiKey: string) {
  const found = await apiKeys.find(db, apiKey)
  if (found?.key.workspaceId !== workspaceId) throw new ApiError('NOT_FOUND', 'API key not found.')
  return found
}

const present = ({ authTokenKey }: Secrets, apiKey: string, token: apiKeys.AuthToken) => ({
  token: mintAuthToken(authTokenKey, apiKey, token),
  name: token.name,
  domains: token.domains,
})
