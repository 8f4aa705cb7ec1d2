import { mergeKeys } from '../../store/engine/json.ts'

/** A copy without the keys whose value is null or undefined: in sent metadata, null means that the key is not wanted. */
export const withoutNulls = (metadata: Record<string, unknown>): Record<string, unknown> =>
  mergeKeys({}, metadata)

/** A copy without the keys whose value is undefined. */
export const withoutUndefined = <T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
