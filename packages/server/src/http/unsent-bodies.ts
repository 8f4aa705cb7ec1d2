import type { ServerResponse } from 'node:http'
import type { UnsentAnswer, UnsentAnswers } from '../platform/turns/unsent-answers.ts'

/** A client that reads nothing for this long is disconnected. */
const stallTimeoutMs = 10_000

/** Ends the connection of a client that does not read the response. */
export function limitStall(response: ServerResponse): void {
  response.setTimeout(stallTimeoutMs, () => response.destroy())
}

/** Counts the bytes of a body until the response is closed. */
export function countUntilSent(
  unsent: UnsentAnswers,
  response: ServerResponse,
  answer: Omit<UnsentAnswer, 'isHeld'>,
): void {
  // A response that is already closed emits no second `close`, so the body would be counted forever.
  if (response.destroyed) return
  response.once('close', unsent.add({ ...answer, isHeld: () => false }))
  limitStall(response)
}
