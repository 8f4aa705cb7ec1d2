import { randomBytes } from 'node:crypto'

/** Short ids that are unique across restarts: a random prefix for this run, and a counter. */
export function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex')
  let requests = 0
  return () => `${run}-${(++requests).toString(36)}`
}
