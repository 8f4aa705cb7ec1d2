import type { Outcome, Outcomes } from '@plenum/protocol'
import { EncodedJson } from '../../calls/answers/encoded-json.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import { inLockOrder as lockOrder } from '../../store/engine/lock-order.ts'
import { slices } from '../../store/engine/slices.ts'

/** The items of a batch by id. If an id is repeated, its first item applies (spec 0.4). */
export function byId<T>(items: readonly T[], idOf: (item: T) => string): Map<string, T> {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(idOf(item))) found.set(idOf(item), item)
  return found
}

export const unique = (ids: readonly string[]): string[] => [...new Set(ids)]

/** An object with one outcome for each id. `fromEntries` defines own keys, so an id such as `__proto__` is safe. */
export const outcomes = (ids: Iterable<string>, outcome: (id: string) => Outcome): Outcomes =>
  Object.fromEntries([...ids].map((id) => [id, outcome(id)]))

/** Like `outcomes`, for any number of ids. They are encoded in slices, between which other work runs. */
export async function manyOutcomes(
  ids: readonly string[],
  outcome: (id: string) => Outcome,
): Promise<Outcomes> {
  const pieces: Buffer[] = []
  for (const some of slices(ids)) {
    await yieldIfLate()
    const members = JSON.stringify(outcomes(some, outcome)).slice(1, -1)
    pieces.push(Buffer.from(`${pieces.length > 0 ? ',' : '{'}${members}`))
  }
  return new EncodedJson(...pieces, Buffer.from(pieces.length > 0 ? '}' : '{}')) as unknown as Outcomes
}

/** The items ordered by id. Batches that lock their rows in this order do not deadlock. */
export const inLockOrder = <T>(items: ReadonlyMap<string, T>): [string, T][] => lockOrder(items, ([id]) => id)
