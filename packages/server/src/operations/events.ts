import { ApiError, type Event, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import type { EventPosition, StoredEvent } from '../store/events.ts'
import * as events from '../store/events.ts'

const defaultLimit = 100

export const eventHandlers: Handlers<Operations['events']> = {
  async get({ input, caller: { apiKey }, db, services: { eventRetentionDays, longReads } }) {
    const { names, organizationId, documentId, limit = defaultLimit } = input
    if (documentId !== undefined && organizationId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'organizationId is required.')
    }
    const start = input.after === undefined ? undefined : readPosition(input.after)
    const filter = { names, organizationId, documentId }
    const { pause } = longReads.open(apiKey)
    const found: StoredEvent[] = []
    let after = start
    let hasMore = true
    for (let reads = 0; hasMore && found.length < limit && reads < maxReads; reads++) {
      await pause()
      const step = await events.read(db, apiKey, after, filter, limit - found.length)
      found.push(...step.events)
      after = step.last
      hasMore = step.hasMore
    }
    // Read last: if events were removed while this call read, the answer could lack them.
    const pruned = await events.findPruned(db, apiKey)
    if (start && pruned && events.isBefore(start, pruned)) throw tooOld(eventRetentionDays)
    return { events: found.map(present), after: writePosition(after ?? pruned ?? origin), hasMore }
  },
}

/** One call looks at this many batches of the log, so that a filter that matches nothing does not run for long. */
const maxReads = 20

const origin: EventPosition = { transactionId: 0, eventId: 0 }

const tooOld = (days: number) =>
  new ApiError(
    'FAILED_PRECONDITION',
    `Events after this position were removed, because they are older than ${days} days. Read without after, from the oldest event that is left.`,
  )

const writePosition = ({ transactionId, eventId }: EventPosition) => `${transactionId}.${eventId}`

function readPosition(text: string): EventPosition {
  const [, transactionId, eventId] = /^(\d{1,16})\.(\d{1,16})$/.exec(text) ?? []
  if (transactionId === undefined) throw new ApiError('INVALID_ARGUMENT', 'Invalid position.')
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
