import { ApiError, type Operations } from '@plenum/protocol'
import { mintAuthToken } from '../access/tokens/auth-tokens.ts'
import type { Secrets } from '../access/tokens/secrets.ts'
import type { Handlers } from '../calls/call.ts'
import * as apiKeys from '../store/api-keys.ts'
import type { Db } from '../store/engine/db.ts'
import { newAuthToken } from './new-key.ts'

export const authTokenHandlers: Handlers<Operations['authTokens']> = {
  async get({ input: { apiKey }, caller, db, secrets }) {
    const { tokens } = await ownKey(db, caller.workspaceId, apiKey)
    return { apiKey, authTokens: tokens.map((token) => present(secrets, apiKey, token)) }
  },

  async reset({ input: { apiKey }, caller, db, now, secrets, credentials, lock, afterCommit, emit }) {
    // Two that run at once would each add a token where there was none.
    await lock(db, `auth-tokens/${apiKey}`)
    await ownKey(db, caller.workspaceId, apiKey)
    const token = newAuthToken(now)
    await apiKeys.replaceTokens(db, apiKey, token)
    afterCommit(() => credentials.forget(apiKey))
    emit({ kind: 'credentials' })
    return { apiKey, newAuthToken: present(secrets, apiKey, token) }
  },
}

/** A key of another workspace is as unknown as one that does not exist. */
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
