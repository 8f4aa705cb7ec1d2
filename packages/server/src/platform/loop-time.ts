import { setImmediate as nextLoop } from 'node:timers/promises'

/** How long one iteration of the event loop may be busy before what can wait does so. */
const maxIterationMs = 8

let startedAt: number | undefined

/**
 * Whether this iteration of the event loop has been busy for so long that further work should wait for the next one. The
 * first question of an iteration starts the clock; everything that runs from then on counts.
 */
export function isLoopLate(): boolean {
  const now = performance.now()
  if (startedAt === undefined) {
    startedAt = now
    setImmediate(() => (startedAt = undefined))
    return false
  }
  return now - startedAt >= maxIterationMs
}

/** Called between pieces of work that may take long together: lets others have their turn if they should. */
export async function breathe(): Promise<void> {
  if (isLoopLate()) await nextLoop()
}

/** The same as `map` of an array, with other work in between when there are many or large items. */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = []
  for (const item of items) {
    if (isLoopLate()) await nextLoop()
    mapped.push(map(item))
  }
  return mapped
}
