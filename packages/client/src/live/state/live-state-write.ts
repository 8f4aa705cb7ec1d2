export type Data = Record<string, unknown>

/** A change of a live state, and the promises of the `set` calls that it combines. */
export interface Write {
  data: Data
  merge: boolean
  waiters: { resolve: () => void; reject: (error: Error) => void }[]
}

/**
 * Returns one write with the effect of both. If the second write replaces the value, the data of the first is discarded.
 * The waiters of both still wait.
 */
export function combine(first: Write | undefined, second: Write): Write {
  if (!first) return second
  const waiters = [...first.waiters, ...second.waiters]
  return second.merge
    ? { data: { ...first.data, ...second.data }, merge: first.merge, waiters }
    : { ...second, waiters }
}

/** Returns the value after the write. */
export const applyWrite = (value: Data | undefined, write: Write | undefined): Data | undefined =>
  !write ? value : write.merge ? { ...value, ...write.data } : write.data
