import { newId, newNotificationKey } from '../../access/ids.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import type { Content } from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import * as pending from '../../store/notifications/pending.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'

/** Recipients that one transaction writes: about 15 ms on SQLite. */
const maxPerTransaction = 500

export interface NotificationWriterDeps {
  database: Database
  clock: Clock
  /** `store` is called in the transaction that delivers, `publish` after its commit. */
  signals: {
    store(db: Db, messages: readonly InboxSignal[]): Promise<void>
    publish(messages: readonly InboxSignal[]): void
  }
}

/** Tells open sessions. Without `userIds`: all users of the organization. */
interface InboxSignal {
  kind: 'inbox'
  organizationId: string
  userIds?: readonly string[]
}

/** The notification. Undefined content: it is not delivered. */
type Delivered = PendingNotification & { content: Content | undefined; timestamp: number }

/**
 * Writes one notification and ends its job. Few recipients are written with the end of the job. If there are more, the
 * notification is written hidden, in short transactions, and the end of the job shows it. If the server dies before that, a
 * recorded deletion removes the hidden notification, and the job runs again.
 */
export class NotificationWriter {
  readonly #deps: NotificationWriterDeps
  readonly #job: Job
  readonly #notification: Delivered
  readonly #key: string
  readonly #deletionId = newId('del')
  #waiting: NewRecipient[] = []
  #isHidden = false

  constructor(deps: NotificationWriterDeps, job: Job, notification: Delivered) {
    this.#deps = deps
    this.#job = job
    this.#notification = notification
    this.#key = newNotificationKey(notification.id)
  }

  async add(recipients: readonly NewRecipient[]): Promise<void> {
    this.#waiting.push(...recipients)
    if (this.#waiting.length > maxPerTransaction) await this.#writeWaiting()
  }

  /**
   * Ends the job. The notification becomes visible, if it has recipients and the annotation still exists. `onEnded` runs in the
   * same transaction.
   */
  async end(onEnded?: (db: Db) => Promise<void>): Promise<void> {
    if (this.#isHidden) await this.#writeWaiting()
    const { organizationId, id, annotationId } = this.#notification
    const { apiKey } = this.#job
    const { signals } = this.#deps
    const userIds = this.#waiting.flatMap(({ userId }) => userId ?? [])
    const delivered: InboxSignal[] = [{ kind: 'inbox', organizationId, ...(!this.#isHidden && { userIds }) }]
    const isDelivered = await this.#deps.database.write(async (db) => {
      if (!(await jobs.finish(db, this.#job))) return false
      await pending.remove(db, apiKey, organizationId, id)
      await onEnded?.(db)
      if (!this.#isHidden && this.#waiting.length === 0) return false
      if (!(await annotations.hold(db, apiKey, this.#notification, annotationId))) return false
      if (this.#isHidden) await this.#show(db)
      else await notifications.add(db, apiKey, this.#stored(), this.#waiting)
      await signals.store(db, delivered)
      return true
    }, apiKey)
    if (isDelivered) signals.publish(delivered)
  }

  async #writeWaiting(): Promise<void> {
    const { database, clock } = this.#deps
    const { apiKey } = this.#job
    const stored = this.#stored()
    await database.write(async (db) => {
      const now = clock.now()
      const deletion = { deletionId: this.#deletionId, now }
      if (!this.#isHidden) await notifications.addHidden(db, apiKey, stored, deletion)
      if (!(await notifications.addRecipients(db, apiKey, stored, this.#waiting, deletion))) throw removed()
    }, apiKey)
    this.#isHidden = true
    this.#waiting = []
  }

  async #show(db: Db): Promise<void> {
    const place = { ...this.#notification, key: this.#key }
    // The id is new, so there is no notification to replace.
    const later = { deletionId: newId('del'), now: this.#deps.clock.now(), onHidden: () => {} }
    if (!(await notifications.show(db, this.#job.apiKey, place, this.#deletionId, later))) throw removed()
  }

  #stored() {
    const { organizationId, id, documentId, content, timestamp } = this.#notification
    return { organizationId, id, key: this.#key, documentId, content: content as Content, timestamp }
  }
}

/** The job runs again and writes the notification anew. */
const removed = () => new Error('The hidden notification was removed before it was complete.')
