import type { EventName, RecordedName } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import * as activities from '../store/activities/activities.ts'
import { findSettings } from '../store/activities/config.ts'
import type { Content } from '../store/activities/lists.ts'
import * as users from '../store/users/users.ts'
import type { AnnotationEvent, EventConsumer } from './consumer.ts'

/** The trigger of each event that becomes an activity (spec 22.11). */
const triggers: Partial<Record<RecordedName, EventName>> = {
  'comment_annotation.add': 'comment_annotation.add',
  // There is no trigger of its own.
  'comment_annotation.delete': 'comment.delete',
  'comment_annotation.status_change': 'comment_annotation.status_change',
  'comment_annotation.priority_change': 'comment_annotation.priority_change',
  'comment_annotation.assign': 'comment_annotation.assign',
  'comment_annotation.access_mode_change': 'comment_annotation.access_mode_change',
  'comment_annotation.subscribe': 'comment_annotation.subscribe',
  'comment_annotation.unsubscribe': 'comment_annotation.unsubscribe',
  'comment_annotation.suggestion_accept': 'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject': 'comment_annotation.suggestion_reject',
  'comment.add': 'comment.add',
  'comment.update': 'comment.update',
  'comment.delete': 'comment.delete',
  'comment.reaction_add': 'comment.reaction_add',
  'comment.reaction_delete': 'comment.reaction_delete',
}

/** Records events as activities (spec 21.5). */
export const activityLog: EventConsumer = {
  names: Object.keys(triggers) as RecordedName[],

  async onRecorded({ db, key: { apiKey }, now }, events) {
    const caused = events.flatMap((event) => {
      const { actorId, isActivity } = event
      return isActivity && actorId !== undefined ? { event, actorId } : []
    })
    if (caused.length === 0) return
    const settings = await findSettings(db, apiKey)
    const wanted = caused.filter(({ event }) => settings.events.has(triggers[event.name] as EventName))
    if (wanted.length === 0) return
    const actors = await users.findMany(db, apiKey, [...new Set(wanted.map(({ actorId }) => actorId))])
    // Increasing ids keep the order of the events in lists.
    const ids = wanted.map(() => newId('act')).sort()
    const added = wanted.map(({ event, actorId }, index) => ({
      id: ids[index] as string,
      documentId: event.documentId,
      featureType: 'comment' as const,
      actionType: event.name,
      targetEntityId: event.annotationId,
      timestamp: now,
      immutable: settings.immutable,
      annotationId: event.annotationId,
      ...(event.audience && { audience: event.audience }),
      content: contentOf(event, { userId: actorId, ...nameOf(actors.get(actorId)) }),
    }))
    const { organizationId } = events[0] as AnnotationEvent
    await activities.add(db, apiKey, organizationId, added)
  },
}

const nameOf = (user: { name?: unknown } | undefined) =>
  typeof user?.name === 'string' ? { name: user.name.slice(0, 500) } : {}

/** The field of the annotation that an event changes. */
const changedFields: Partial<Record<RecordedName, string>> = {
  'comment_annotation.assign': 'assignedTo',
  'comment_annotation.status_change': 'status',
  'comment_annotation.priority_change': 'priority',
  'comment_annotation.access_mode_change': 'visibility',
}

function contentOf(event: AnnotationEvent, actionUser: { userId: string }): Content {
  const { name, commentId, payload } = event
  const field = changedFields[name]
  const changes = field === undefined ? undefined : { [field]: payload.changes as Record<string, unknown> }
  return {
    actionUser,
    eventType: name,
    ...(commentId !== undefined && { targetSubEntityId: String(commentId) }),
    ...(changes && isSmall(changes) && { changes }),
    entityData: snapshotOf(event),
  }
}

/** The changes and the snapshot are each stored only up to this size, because an activity has at most 16 KiB in all. */
const maxPartBytes = 6 * 1024
/** The annotation in further activities of the same call: there may be hundreds. */
const maxRepeatedBytes = 1024
const isSmall = (part: object, maxBytes = maxPartBytes) => Buffer.byteLength(JSON.stringify(part)) <= maxBytes

/** The annotation and the comment at that time or, if they are large, what identifies them. */
function snapshotOf({ payload, annotation, commentId }: AnnotationEvent): object {
  const { comment } = payload as { comment?: object }
  const { annotationId, annotationNumber } = annotation
  const ids = { annotationId, annotationNumber }
  const isRepeated = payload.annotation !== annotation
  const shown = isRepeated && !isSmall(annotation, maxRepeatedBytes) ? ids : annotation
  const whole = { annotation: shown, ...(comment && { comment }) }
  if (isSmall(whole)) return whole
  return { annotation: ids, ...(commentId !== undefined && { comment: { commentId } }) }
}
