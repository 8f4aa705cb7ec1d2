import { ApiError, type Event, type Operations } from '@plenum/protocol'
import type { EventNames } from '../access/credentials/event-names.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { type EventPosition, hasReached, isBefore, origin } from '../store/event-log.ts'
import type { Scanning } from '../store/engine/scan.ts'
import type { ReadEvent, StoredEvent } from '../store/events.ts'
import * as events from '../store/events.ts'
import { visibleHistory } from './comments/visible-history.ts'

type Get = Operations['events']['get']

const defaultLimit = 100

export const eventHandlers: Handlers<Operations['events']> = {
  async get(call) {
    const { input, caller, db, services, abandoned } = call
    const { apiKey } = caller
    const { wait = 0, documentId, organizationId } = input
    if (documentId !== undefined && organizationId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'organizationId is required.')
    }
    if (wait > 0 && caller.user) throw new ApiError('INVALID_ARGUMENT', 'wait is for backends.')
    let after = await startOf(call, services.eventNames())
    const endsAt = services.clock.elapsed() + wait * 1000
    for (let hasRead = false; ; hasRead = true) {
      const seen = wait > 0 ? await events.findNewestSettled(db, apiKey) : origin
      const { page, position } = await readPage(call, after)
      const ms = endsAt - services.clock.elapsed()
      if (page.events.length > 0 || page.hasMore || ms <= 0) return page
      const outcome = await services.newEvents.wait(apiKey, seen, { ms, hasRead, abandoned })
      if (outcome === 'ended') return page
      after = position
    }
  },
}

async function readPage(call: Call<Get>, start: EventPosition | undefined) {
  const { input, caller, db, services } = call
  const { apiKey } = caller
  const { eventRetentionDays, longReads } = services
  const eventNames = services.eventNames()
  const { names, organizationId, documentId, limit = defaultLimit } = input
  const reading = longReads.open(caller, call.abandoned)
  const query: Scanning['query'] = (statement) => reading.query(statement)
  const history = await visibleHistory<ReadEvent>(call, input, query, {
    snapshotOf: ({ payload }) => payload,
    withDeleted: false,
  })
  const filter = { names, organizationId, documentId, keep: history?.keepAbout }
  await reading.enter()
  try {
    // A user must not learn from `hasMore` that there are hidden events: one more visible event says whether there are more.
    const wanted = history ? limit + 1 : limit
    const { found, ...rest } = await readSome(wanted, start, async (options) => {
      const batch = await reading.query(() => events.read(db, apiKey, { ...options, filter }))
      return { ...batch, events: history ? await history.keep(batch.events) : batch.events }
    })
    const shown = found.slice(0, limit)
    const isCut = found.length > limit
    const { after, hasMore } = isCut ? { after: shown.at(-1)?.position, hasMore: true } : rest
    // Read last: if events were removed while this call read, the answer could lack them.
    const pruned = await events.findPruned(db, apiKey)
    if (start && pruned && isBefore(start, pruned)) throw tooOld(eventRetentionDays)
    const position = after ?? pruned ?? origin
    return {
      page: {
        events: shown.map((event) => present(event, eventNames.nameOf(apiKey, event.number))),
        after: eventNames.writePosition(apiKey, position, { isSalted: history !== undefined }),
        hasMore,
      },
      position,
    }
  } finally {
    reading.close()
  }
}

/** One answer has payloads of about this size at most. */
const maxBytes = 1024 * 1024

/** One call looks at this many batches of the log, so that a filter that matches nothing does not run for long. */
const maxReads = 20

type Batch = Pick<events.EventBatch, 'bytes' | 'last' | 'hasMore'> & { events: ReadEvent[] }

/** Reads batches until there are as many events as wanted, or enough bytes or batches. */
async function readSome(
  wanted: number,
  start: EventPosition | undefined,
  read: (options: { after: EventPosition | undefined; limit: number; maxBytes: number }) => Promise<Batch>,
): Promise<{ found: ReadEvent[]; after: EventPosition | undefined; hasMore: boolean }> {
  const found: ReadEvent[] = []
  let after = start
  let hasMore = true
  let bytesLeft = maxBytes
  for (let reads = 0; hasMore && found.length < wanted && bytesLeft > 0 && reads < maxReads; reads++) {
    const batch = await read({ after, limit: wanted - found.length, maxBytes: bytesLeft })
    found.push(...batch.events)
    ;({ last: after, hasMore } = batch)
    bytesLeft -= batch.bytes
  }
  return { found, after, hasMore }
}

/** The position that the caller sent. Throws if the log has not reached it. */
async function startOf(
  { input, caller: { apiKey }, db }: Call<Get>,
  eventNames: EventNames,
): Promise<EventPosition | undefined> {
  if (input.after === undefined) return undefined
  const sent = eventNames.readPosition(apiKey, input.after)
  if (!sent) throw new ApiError('INVALID_ARGUMENT', 'after must be the after of an earlier answer.')
  const { position, isPlain } = sent
  // A plain position may be made up. The answer must not tell how far the log of all tenants is.
  const isReached = isPlain
    ? eventNames.mayBePlain(position) || !isBefore(await events.findNewest(db, apiKey), position)
    : await hasReached(db, position)
  if (!isReached) throw notReached()
  return position
}

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

const present = (
  { name, actorId, payload, timestamp, ...event }: StoredEvent,
  { id, number }: { id: string; number: number },
): Event => ({
  id,
  name,
  number,
  ...(event.organizationId !== undefined && { organizationId: event.organizationId }),
  ...(event.documentId !== undefined && { documentId: event.documentId }),
  ...(event.annotationId !== undefined && { annotationId: event.annotationId }),
  ...(actorId !== undefined && { actor: { userId: actorId } }),
  payload,
  timestamp,
})
