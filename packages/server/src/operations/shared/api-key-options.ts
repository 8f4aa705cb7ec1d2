import { ApiError } from '@plenum/protocol'
import type { Call } from '../../calls/call.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { ApiKeyOptions } from '../../store/api-keys.ts'

type OptionsCall = Pick<Call, 'db' | 'afterCommit' | 'services'> & { caller: { apiKey: string } }

/** Changes options of the caller's API key. Returns all options. Writes only if an option changes. */
export async function changeOptions(
  { caller: { apiKey }, db, afterCommit, services: { credentials } }: OptionsCall,
  changes: Partial<ApiKeyOptions>,
): Promise<ApiKeyOptions> {
  // The options in `caller` were read before this transaction and may be outdated.
  const stored = (await apiKeys.find(db, apiKey))?.key.options
  if (!stored) throw new ApiError('PERMISSION_DENIED', 'Invalid API key.')
  const changed = Object.entries(changes).filter(
    ([key, value]) => stored[key as keyof ApiKeyOptions] !== value,
  )
  if (changed.length === 0) return stored
  const options = { ...stored, ...changes }
  await apiKeys.setOptions(db, apiKey, options)
  afterCommit(() => credentials.drop(apiKey))
  return options
}
