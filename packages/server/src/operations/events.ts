import { ApiError, type Event, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import { visibleHistory } from './comments/visible-history.ts'
import type { Scanning } from '../store/engine/scan.ts'
import { type EventPosition, hasReached, isBefore } from '../store/event-log.ts'
import type { StoredEvent } from '../store/events.ts'
import * as events from '../store/events.ts'

const defaultLimit = 100

export const eventHandlers: Handlers<Operations['events']> = {
  async get(call) {
    const { input, caller, db, services } = call
    const { apiKey } = caller
    const { eventRetentionDays, longReads } = services
    const { names, organizationId, documentId, limit = defaultLimit } = input
    if (documentId !== undefined && organizationId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'organizationId is required.')
    }
    const reading = longReads.open(caller, call.abandoned)
    const query: Scanning['query'] = (statement) => reading.query(statement)
    const history = await visibleHistory<StoredEvent>(call, input, query, {
      snapshotOf: ({ payload }) => payload,
      withDeleted: false,
    })
    const start = input.after === undefined ? undefined : readPosition(input.after)
    if (start && !(await hasReached(db, start))) throw notReached()
    const filter = { names, organizationId, documentId }
    await reading.enter()
    try {
      const found: StoredEvent[] = []
      let after = start
      let hasMore = true
      let bytesLeft = maxBytes
      for (let reads = 0; hasMore && found.length < limit && bytesLeft > 0 && reads < maxReads; reads++) {
        const options = { after, filter, limit: limit - found.length, maxBytes: bytesLeft }
        const batch = await reading.query(() => events.read(db, apiKey, options))
        found.push(...(history ? await history.keep(batch.events) : batch.events))
        ;({ last: after, hasMore } = batch)
        bytesLeft -= batch.bytes
      }
      // Read last: if events were removed while this call read, the answer could lack them.
      const pruned = await events.findPruned(db, apiKey)
      if (start && pruned && isBefore(start, pruned)) throw tooOld(eventRetentionDays)
      return { events: found.map(present), after: writePosition(after ?? pruned ?? origin), hasMore }
    } finally {
      reading.close()
    }
  },
}

/** One answer has payloads of about this size at most. */
const maxBytes = 1024 * 1024

/** One call looks at this many batches of the log, so that a filter that matches nothing does not run for long. */
const maxReads = 20

const origin: EventPosition = { transactionId: 0, eventId: 0 }

const tooOld = (days: number) =>
  new ApiError(
    'FAILED_PRECONDITION',
    `Events after this position were removed, because they are older than ${days} days. Read without after, from the oldest event that is left.`,
  )

const notReached = () =>
  new ApiError(
    'FAILED_PRECONDITION',
    'The event log has not reached this position: the database was replaced by an older copy. Read without after.',
  )

const writePosition = ({ transactionId, eventId }: EventPosition) => `${transactionId}.${eventId}`

function readPosition(text: string): EventPosition {
  const [, transactionId, eventId] = /^(\d{1,16})\.(\d{1,16})$/.exec(text) ?? []
  if (transactionId === undefined)
    throw new ApiError('INVALID_ARGUMENT', 'after must be the after of an earlier answer.')
  return { transactionId: Number(transactionId), eventId: Number(eventId) }
}

const present = ({ name, number, actorId, payload, timestamp, ...event }: StoredEvent): Event => ({
  id: `evt_${number}`,
  name,
  number,
  ...(event.organizationId !== undefined && { organizationId: event.organizationId }),
  ...(event.documentId !== undefined && { documentId: event.documentId }),
  ...(event.annotationId !== undefined && { annotationId: event.annotationId }),
  ...(actorId !== undefined && { actor: { userId: actorId } }),
  payload,
  timestamp,
})
