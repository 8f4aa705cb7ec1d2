/** The seed of all random tests: the same in every run, unless TEST_SEED is set. `random-setup.ts` prints it on failure. */
export const testSeed = Number(process.env.TEST_SEED ?? 20_261_116)

export interface Random {
  /** Returns an integer from 0 up to the limit, exclusive. */
  (limit: number): number
  /** Returns a number in [0, 1). */
  fraction(): number
  /** Returns an element of the list. */
  of<T>(list: readonly T[]): T
}

/** Creates a generator (mulberry32). Equal seeds give equal numbers. */
export function createRandom(seed = testSeed): Random {
  let state = seed
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(fraction() * limit)
  return Object.assign(below, { fraction, of: <T>(list: readonly T[]) => list[below(list.length)] as T })
}
