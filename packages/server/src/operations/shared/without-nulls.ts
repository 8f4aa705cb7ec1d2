import { mergeKeys } from '../../store/engine/json.ts'

/** A copy without the keys whose value is null or undefined: in sent metadata, null means that the key is not wanted. */
export const withoutNulls = (metadata: Record<string, unknown>): Record<string, unknown> =>
  mergeKeys({}, metadata)
