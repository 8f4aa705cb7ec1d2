import type { Db } from '../../../src/store/engine/db.ts'
import * as events from '../../../src/store/events.ts'

/** Adds an event with each of these payloads, as the transaction of an operation does. */
export const addEvents = (
  db: Db,
  apiKey: string,
  payloads: readonly Record<string, unknown>[],
  now = Date.now(),
) =>
  events.add(
    db,
    apiKey,
    payloads.map((payload) => ({ name: 'comment.add', notifies: false, payload })),
    now,
  )
