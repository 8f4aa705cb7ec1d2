import { randomBytes } from 'node:crypto'

/** Creates a function that returns short ids, unique across restarts: a random prefix of this run, and a counter. */
export function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex')
  let requests = 0
  return () => `${run}-${(++requests).toString(36)}`
}
