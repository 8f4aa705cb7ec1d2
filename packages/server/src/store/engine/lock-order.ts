/** Sorts rows by id. All statements lock rows in this order, so two statements never wait for each other's rows. */
export const inLockOrder = <T>(items: Iterable<T>, idOf: (item: T) => string): T[] =>
  [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
