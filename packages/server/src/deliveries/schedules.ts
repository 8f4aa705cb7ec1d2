const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** The waits after a failed attempt, in milliseconds. After the last one, the delivery has failed. */
export type Schedule = readonly number[]

/** For endpoints (spec 24.21) and emails (spec 3.3.2). */
export const longSchedule: Schedule = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  10 * hour,
]

/** For the URLs of the basic webhook (spec 24.22). */
export const shortSchedule: Schedule = [second, 5 * second]

/** The share by which a wait is made longer or shorter, so that receivers do not get all retries at the same moment. */
const jitter = 0.2

/** The wait after this many attempts. Undefined: that was the last one. */
export function waitAfter(schedule: Schedule, attempts: number, random = Math.random): number | undefined {
  const wait = schedule[attempts - 1]
  return wait === undefined ? undefined : Math.round(wait * (1 - jitter + 2 * jitter * random()))
}
