export type Data = Record<string, unknown>

/** A change of a live state, and who waits for it. */
export interface Write {
  data: Data
  merge: boolean
  waiting: { resolve: () => void; reject: (error: Error) => void }[]
}

/** Both as one; a replacement makes what was before it void, but not those who wait for it. */
export function combine(first: Write | undefined, second: Write): Write {
  if (!first) return second
  const waiting = [...first.waiting, ...second.waiting]
  return second.merge
    ? { data: { ...first.data, ...second.data }, merge: first.merge, waiting }
    : { ...second, waiting }
}

export const lay = (below: Data | undefined, write: Write | undefined): Data | undefined =>
  !write ? below : write.merge ? { ...below, ...write.data } : write.data
