import { setImmediate as nextIteration } from 'node:timers/promises'

/** How long one iteration of the event loop may be busy before work that can wait is postponed. */
export const usualIterationMs = 8
/** The same limit while clients connect: Node accepts one connection in each iteration, and hundreds may be waiting. */
const acceptingMs = 0.1
/** For this long after a connection, more connections are expected. */
const acceptingForMs = 20

/** Until when more connections are expected. 0: none are expected. */
let acceptingUntil = 0
/** When the clock of this iteration started. Undefined: nothing has asked for the time yet. */
let startedAt: number | undefined
/** Whether this iteration follows a long one and therefore counts as late. */
let isAfterLong = false

/** Call it when a client has connected. */
export function onConnectionAccepted(): void {
  acceptingUntil = performance.now() + acceptingForMs
}

/** How long work may run in this iteration of the event loop. */
export function maxIterationMs(): number {
  if (acceptingUntil === 0) return usualIterationMs
  if (performance.now() < acceptingUntil) return acceptingMs
  acceptingUntil = 0
  return usualIterationMs
}

/**
 * Whether this iteration of the event loop has been busy for so long that further work should wait for a later one. The first
 * call in an iteration starts the iteration's clock, which then measures everything that runs.
 */
export function isLoopLate(maxMs?: number): boolean {
  const now = performance.now()
  if (startedAt === undefined) {
    startedAt = now
    setImmediate(endIteration)
    return false
  }
  return now - startedAt >= (maxMs ?? maxIterationMs())
}

/** Whether this iteration has been busy for `usualIterationMs`. Ignores the lower limit while clients connect. */
export const isLoopHeld = (): boolean => isLoopLate(usualIterationMs)

/**
 * Runs as an immediate, so right after the iteration has read its sockets. After a long iteration the next one counts as late
 * too: otherwise two long pieces of work could follow each other with nothing between them.
 */
function endIteration(): void {
  isAfterLong = !isAfterLong && performance.now() - (startedAt ?? 0) >= usualIterationMs
  if (isAfterLong) setImmediate(endIteration)
  else startedAt = undefined
}

/** Waits for the next iteration if this one is late. Call it between pieces of work that may take long together. */
export async function yieldIfLate(): Promise<void> {
  if (isLoopLate()) await nextIteration()
}

/** Up to this many items are mapped without a pause. */
const maxItemsWithoutPause = 4

/** Like `map` of an array, but lets other work run in between if the iteration becomes late. */
export function mapYielding<T, R>(items: readonly T[], map: (item: T) => R): R[] | Promise<R[]> {
  return items.length <= maxItemsWithoutPause ? items.map((item) => map(item)) : mapMany(items, map)
}

async function mapMany<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = []
  for (const item of items) {
    if (isLoopLate()) await nextIteration()
    mapped.push(map(item))
  }
  return mapped
}
