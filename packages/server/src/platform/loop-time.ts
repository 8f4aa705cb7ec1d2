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
