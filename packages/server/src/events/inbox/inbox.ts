import { type EventName, eventNames, groupedNames } from '@plenum/protocol'
import { newId, newNotificationId } from '../../access/ids.ts'
import * as jobs from '../../store/jobs.ts'
import * as pending from '../../store/notifications/pending.ts'
import { findSettings } from '../../store/notifications/service-config.ts'
import { findMailedEvents } from '../../store/deliveries/email-settings.ts'
import type { EventConsumer } from '../consumer.ts'

/**
 * Notifies users of events, in their inboxes (spec 18.7) and by email (spec 3.3). The transaction of the event stores a pending
 * notification and its job, so neither is ever lost. The job finds the recipients, which may be very many, and adds another
 * job for the mails.
 */
export const inbox: EventConsumer = {
  names: eventNames.filter((name) => groupedNames[name]?.startsWith('comment.')),

  async onRecorded({ db, key, now, wakeJobs }, events) {
    const notifying = events.filter(({ notifies, isAnnotationDeleted }) => notifies && !isAnnotationDeleted)
    if (notifying.length === 0) return
    const { events: enabled, delaySeconds } = await findSettings(db, key)
    const { apiKey } = key
    const mailed = await findMailedEvents(db, apiKey)
    const added = notifying
      .filter(({ name }) => enabled.has(name as EventName) || mailed.has(name as EventName))
      .map(({ organizationId, documentId, annotationId, commentId, name, actorId, seq }) => ({
        toInbox: enabled.has(name as EventName),
        toEmail: mailed.has(name as EventName),
        organizationId,
        id: newNotificationId(),
        documentId,
        annotationId,
        commentId: commentId ?? null,
        name: name as EventName,
        actorId: actorId ?? null,
        seq,
        jobId: newId('job'),
      }))
    await pending.add(db, apiKey, added)
    const kind = 'notification.deliver' as const
    const runAt = now + delaySeconds * 1000
    const newJobs = added.map(({ jobId, organizationId, id: notificationId }) => {
      const payload = { organizationId, notificationId }
      return { jobId, apiKey, kind, payload, now, runAt }
    })
    await jobs.addMany(db, newJobs)
    if (added.length > 0) wakeJobs()
  },
}
