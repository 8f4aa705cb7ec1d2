import { LRUCache } from 'lru-cache'

/** A map of the `max` entries that were used last. Unlike with the option `max`, it takes memory only for those it has. */
export const lastUsed = <T extends {}>(max: number): LRUCache<string, T> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
