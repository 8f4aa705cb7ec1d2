import { hash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import * as digests from '../../store/deliveries/digests.ts'
import type { Digest } from '../../store/deliveries/digests.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import { slices } from '../../store/engine/slices.ts'
import * as pending from '../../store/notifications/pending.ts'
import { eventsOf } from './earlier-mails.ts'
import { addDeliveries } from './prepare-mails.ts'
import type { StoredMail } from './stored-mail.ts'

/** Digests that one transaction stores: each removes up to 50 rows, about 10 ms together on SQLite. */
const usersPerTransaction = 20
/** Events in one mail: as many as the largest batch has. The rest follows in the next mail. */
const maxEventsPerMail = 50
/** Messages in one query. Those that an earlier version has stored may have 100 KB. */
const messagesPerQuery = 5
/** How long a digest waits for events of its batch that are not delivered yet. */
const maxWaitMs = 60_000
const waitMs = 500

interface DigestDeps {
  database: Database
  clock: Clock
  wake: (lane: string, waitMs?: number) => void
  /** Aborted when the server stops. The job continues after the restart. */
  stopping: AbortSignal
}

/** Sends each user of an organization the events of the batch that ended, in one mail. */
export async function sendDigests(
  { database, clock, wake, stopping }: DigestDeps,
  job: Job<'email.digest'>,
): Promise<'settled' | undefined> {
  const { apiKey, payload, lane } = job
  const { organizationId, endedAt } = payload
  const now = clock.now()
  if (
    now < endedAt + maxWaitMs &&
    (await pending.hasOverdue(database.read, apiKey, organizationId, endedAt))
  ) {
    await database.write((db) => jobs.postpone(db, job, now + waitMs), apiKey)
    wake(lane, waitMs)
    return 'settled'
  }
  let message: deliveries.Message | undefined
  for (;;) {
    stopping.throwIfAborted()
    await yieldIfLate()
    const userIds = await digests.findUsers(database.read, apiKey, organizationId, usersPerTransaction)
    if (userIds.length === 0 && (await finishIfEmpty(database, job))) return 'settled'
    for (const users of await findGroups(database.read, apiKey, organizationId, userIds)) {
      const { messageIds } = users[0] as Digest
      // Often all members of an organization get the same digest.
      if (message?.messageId !== idOf(messageIds))
        message = await readDigest(database.read, apiKey, messageIds)
      await database.write((db) => store(db, job, message, users, clock.now()), apiKey)
      wake(jobs.laneOf('email.send'))
    }
  }
}

/**
 * Ends the job, unless another server has added messages meanwhile: it relies on this job to send them. Each transaction of a job
 * locks its row first, so the other server either sees the job or adds a new one.
 */
const finishIfEmpty = (database: Database, job: Job<'email.digest'>): Promise<boolean> =>
  database.write(async (db) => {
    const [first] = await digests.findUsers(db, job.apiKey, job.payload.organizationId, 1)
    return first === undefined && jobs.finish(db, job)
  }, job.apiKey)

/** The next digests of the users. Those with the same messages are together. */
async function findGroups(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
): Promise<Iterable<Digest[]>> {
  const groups = new Map<string, Digest[]>()
  for (const userId of userIds) {
    await yieldIfLate()
    const digest = await digests.find(db, apiKey, organizationId, userId, maxEventsPerMail)
    if (!digest) continue
    const key = idOf(digest.messageIds)
    groups.set(key, [...(groups.get(key) ?? []), digest])
  }
  return groups.values()
}

/** The id of the message about these messages: the same for all users and after a crash. */
const idOf = (messageIds: readonly string[]) =>
  messageIds.length === 1
    ? (messageIds[0] as string)
    : `msg_${hash('sha256', messageIds.join()).slice(0, 32)}`

/** Reads the messages outside of transactions, because they may be large. Undefined: one is gone. */
async function readDigest(
  db: Db,
  apiKey: string,
  messageIds: readonly string[],
): Promise<deliveries.Message | undefined> {
  const found: deliveries.Message[] = []
  for (const some of slices(messageIds, messagesPerQuery)) {
    await yieldIfLate()
    found.push(...(await deliveries.findMessages(db, apiKey, some)))
  }
  const [first] = found
  if (!first || found.length < messageIds.length) return undefined
  if (found.length === 1) return first
  const mails = found.map((one) => one.data as StoredMail)
  const { organizationId, documentId } = first.data as StoredMail
  const data: StoredMail = { organizationId, documentId, events: mails.flatMap(eventsOf) }
  return { messageId: idOf(messageIds), event: first.event, data }
}

/** Turns the digests of users into deliveries. */
async function store(
  db: Db,
  job: Job<'email.digest'>,
  message: deliveries.Message | undefined,
  users: readonly Digest[],
  now: number,
): Promise<void> {
  const { apiKey, payload } = job
  const { messageIds } = users[0] as Digest
  const userIds = users.map(({ userId }) => userId)
  const left = await deliveries.findMessageIds(db, apiKey, messageIds)
  const gone = messageIds.filter((id) => !left.has(id))
  const isComplete = message !== undefined && gone.length === 0
  await digests.remove(db, apiKey, payload.organizationId, userIds, isComplete ? messageIds : gone)
  // An erasure has removed messages. What they said must not come back. The digest is made again without them.
  if (!isComplete) return
  await deliveries.addMessage(db, apiKey, message, now)
  await addDeliveries(db, apiKey, message, users, now)
}
