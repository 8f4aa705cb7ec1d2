/** The order in which every statement touches its rows, so that two of them cannot wait for each other. */
export const inLockOrder = <T>(items: Iterable<T>, idOf: (item: T) => string): T[] =>
  [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
