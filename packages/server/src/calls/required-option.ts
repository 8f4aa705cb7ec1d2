import { ApiError, type Option } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'

/** The message for a call that requires an option which is off. */
export const optionOff: Record<Option, string> = {
  useAdvancedQueries:
    'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
  useNotificationService:
    'The notification service is not enabled for this API key. Set useNotificationService to true with /v2/workspace/apikeyconfig/update.',
}

export function requireOption(caller: ApiKey, option: Option): void {
  if (!caller.options[option]) throw new ApiError('FAILED_PRECONDITION', optionOff[option])
}
