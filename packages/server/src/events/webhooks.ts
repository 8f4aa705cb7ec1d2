import { type EventName, eventNames } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import * as jobs from '../store/jobs.ts'
import { findSwitches } from '../store/webhooks/settings.ts'
import type { AnnotationEvent, EditorEvent, EventConsumer, EventScope } from './consumer.ts'
import { storedWebhook } from './webhook-event.ts'

const kind = 'webhook.dispatch' as const
const lane = jobs.laneOf(kind)

/**
 * Sends webhooks about events (spec 24.20). The transaction of the event stores a job with the event, so the webhooks are
 * never lost. The job finds the receivers and reads what the webhook says.
 */
export const webhooks: EventConsumer = {
  names: eventNames,
  onRecorded: addJobs,
  onEditorChanged: (scope, event) => addJobs(scope, [event]),
}

async function addJobs(
  { db, key: { apiKey }, now, wakeJobs }: EventScope,
  events: readonly (AnnotationEvent | EditorEvent)[],
): Promise<void> {
  const notifying = events.filter(({ notifies }) => notifies)
  if (notifying.length === 0) return
  const { basic, isAdvancedOn } = await findSwitches(db, apiKey)
  const wanted = notifying.filter(({ name }) => isAdvancedOn || basic?.events.has(name as EventName))
  if (wanted.length === 0) return
  const added = wanted.map((event) => ({
    jobId: newId('job'),
    apiKey,
    kind,
    payload: storedWebhook({ ...event, webhookId: newId('msg') }),
    now,
    lane,
  }))
  await jobs.addMany(db, added)
  wakeJobs(lane)
}
