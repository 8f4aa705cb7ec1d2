import { hash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import * as digests from '../../store/deliveries/digests.ts'
import type { Digest } from '../../store/deliveries/digests.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import * as pending from '../../store/notifications/pending.ts'
import type { ActivityContent } from './mail-content.ts'
import { addDeliveries } from './prepare-mails.ts'
import type { StoredMail } from './stored-mail.ts'

/** Digests that one transaction stores: about 15 ms on SQLite. */
const usersPerTransaction = 50
/** Events in one mail: as many as the largest batch has. The rest follows in the next mail. */
const maxEventsPerMail = 50
/** How long a digest waits for events of its batch that are not delivered yet. */
const maxWaitMs = 60_000
const waitMs = 500

interface DigestDeps {
  database: Database
  clock: Clock
  wake: (lane: string, waitMs?: number) => void
}

/** Sends each user of an organization the events of the batch that ended, in one mail. */
export async function sendDigests(
  { database, clock, wake }: DigestDeps,
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
  for (let isMore = true; isMore;) {
    isMore = await database.write(async (db) => {
      await jobs.hold(db, job)
      const page = { after: '', limit: usersPerTransaction }
      const userIds = await digests.findUsers(db, apiKey, organizationId, page)
      if (userIds.length === 0) return false
      const taken = await digests.take(db, apiKey, organizationId, userIds, maxEventsPerMail)
      await addDigests(db, apiKey, taken, clock.now())
      return true
    }, apiKey)
    if (isMore) wake(jobs.laneOf('email.send'))
  }
  return undefined
}

/** Users who get the same events share a message. */
async function addDigests(db: Db, apiKey: string, taken: readonly Digest[], now: number): Promise<void> {
  const groups = new Map<string, Digest[]>()
  for (const digest of taken) {
    const key = digest.messageIds.join()
    groups.set(key, [...(groups.get(key) ?? []), digest])
  }
  for (const [key, users] of groups) {
    const { messageIds } = users[0] as Digest
    const found = await deliveries.findMessages(db, apiKey, messageIds)
    const [first] = found
    if (!first) continue
    const [messageId, message] =
      found.length === 1
        ? [first.messageId, first]
        : [
            `msg_${hash('sha256', key).slice(0, 32)}`,
            {
              event: first.event,
              data: merged(found.map(({ data }) => data as StoredMail<ActivityContent>)),
            },
          ]
    await deliveries.addMessage(db, apiKey, { ...message, messageId }, now)
    await addDeliveries(db, apiKey, { messageId, event: message.event }, users, now)
  }
}

/** One mail about several events. It names the document if all are about the same. */
function merged(mails: readonly StoredMail<ActivityContent>[]): StoredMail<ActivityContent> {
  const [first] = mails as [StoredMail<ActivityContent>]
  const { documentName, ...content } = first.content
  const isOneDocument = mails.every(({ documentId }) => documentId === first.documentId)
  return {
    ...first,
    content: {
      ...content,
      kind: 'digest',
      items: mails.flatMap(({ content: { items } }) => items) as unknown as ActivityContent['items'],
      ...(isOneDocument && documentName !== undefined && { documentName }),
    },
  }
}
