/** Sorts rows by id. Two statements that lock their rows in this order never wait for each other's rows. */
export const inLockOrder = <T>(items: Iterable<T>, idOf: (item: T) => string): T[] =>
  [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
