import { ApiError } from '@plenum/protocol'
import { normalizeEmail } from '../../access/domains/emails.ts'
import { newId } from '../../access/ids.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import * as domains from '../../store/domains.ts'
import { unique } from './batches.ts'

interface NewKey {
  workspaceId: string
  type: 'testing' | 'production'
  ownerEmail: string
  /** Default: derived from the owner's email address. */
  name?: string
  options: Partial<apiKeys.ApiKeyOptions>
  /** Whether the allowed domains include `localhost` and `127.0.0.1`. */
  localHost: boolean
  domains?: readonly string[]
  /** Whether the API key gets an auth token now. */
  authToken: boolean
}

/** Adds an API key with its auth token and its allowed domains. Returns its id. */
export async function createKey(db: Db, key: NewKey, now: number): Promise<string> {
  const { workspaceId, type, ownerEmail, options } = key
  const apiKey = newId('key')
  const name = key.name ?? defaultName(ownerEmail, type)
  await apiKeys.add(
    db,
    { apiKey, workspaceId, type, ownerEmail, name, options: { ...apiKeys.defaultOptions, ...options } },
    now,
  )
  if (key.authToken) await apiKeys.replaceTokens(db, apiKey, newAuthToken(now))
  const local = key.localHost ? ['localhost', '127.0.0.1'] : []
  await domains.add(db, apiKey, unique([...local, ...(key.domains ?? [])]))
  return apiKey
}

/** A new auth token: for a new API key, or to replace the previous token at a reset. */
export const newAuthToken = (now: number): apiKeys.AuthToken => ({
  tokenId: newId('tok'),
  issuedAt: now,
  name: 'Default Auth Token',
  domains: [],
})

/** The stored form of the email address in this field. Throws if the address is invalid. */
export function readEmail(field: string, text: string): string {
  const email = normalizeEmail(text)
  if (email !== null) return email
  throw new ApiError(
    'INVALID_ARGUMENT',
    text.trim() === '' ? `${field} is required.` : `${field} must be a valid email address.`,
  )
}

export const readOwnerEmail = (text: string): string => readEmail('ownerEmail', text)

/** `owner@example.com` → `Owner Test API Key` (spec 1.1, 1.3). */
function defaultName(ownerEmail: string, type: NewKey['type']): string {
  const [local = ''] = ownerEmail.split('@')
  return `${local.charAt(0).toUpperCase()}${local.slice(1)} ${type === 'testing' ? 'Test' : 'Production'} API Key`
}
