import { setImmediate as nextLoop } from 'node:timers/promises'

/** How long one iteration of the event loop may be busy before what can wait does so. */
export const usualMs = 8
/** The same while clients connect. Node accepts one connection in each iteration, and hundreds may wait for that. */
const acceptingMs = 0.1
/** For how long others are expected after a connection. */
const acceptingForMs = 20

let accepting: NodeJS.Timeout | undefined
let currentMs = usualMs
let startedAt: number | undefined
let isRest = false

/** A client has connected. */
export function connectionAccepted(): void {
  currentMs = acceptingMs
  accepting = accepting?.refresh() ?? setTimeout(() => (currentMs = usualMs), acceptingForMs).unref()
}

/** For how long work may go on in this iteration of the event loop. */
export const iterationMs = (): number => currentMs

/**
 * Whether this iteration of the event loop has been busy for so long that further work should wait for a later one. The
 * first question of an iteration starts the clock; everything that runs from then on counts.
 */
export function isLoopLate(maxMs?: number): boolean {
  const now = performance.now()
  if (startedAt === undefined) {
    startedAt = now
    setImmediate(endIteration)
    return false
  }
  return now - startedAt >= (maxMs ?? iterationMs())
}

/** Whether a piece of work has taken longer than an iteration should. */
export const isLoopHeld = (): boolean => isLoopLate(usualMs)

/**
 * Immediates run right after what the iteration has read from its sockets. After long work, one more iteration counts as
 * late: otherwise two long pieces could follow each other with nothing in between.
 */
function endIteration(): void {
  isRest = !isRest && performance.now() - (startedAt ?? 0) >= usualMs
  if (isRest) setImmediate(endIteration)
  else startedAt = undefined
}

/** Called between pieces of work that may take long together: lets others have their turn if they should. */
export async function breathe(): Promise<void> {
  if (isLoopLate()) await nextLoop()
}

/** So few do not need turns. */
const fewItems = 4

/** The same as `map` of an array, with other work in between when there are many or large items. */
export function mapInTurns<T, R>(items: readonly T[], map: (item: T) => R): R[] | Promise<R[]> {
  return items.length <= fewItems ? items.map((item) => map(item)) : mapMany(items, map)
}

async function mapMany<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = []
  for (const item of items) {
    if (isLoopLate()) await nextLoop()
    mapped.push(map(item))
  }
  return mapped
}
