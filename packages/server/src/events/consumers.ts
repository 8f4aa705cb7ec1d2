import { activityLog } from './activity-log.ts'
import type { AnnotationEvent, EditorEvent, EventConsumer, EventScope } from './consumer.ts'
import { inbox } from './inbox/inbox.ts'
import { webhooks } from './webhooks.ts'

const consumers: readonly EventConsumer[] = [activityLog, inbox, webhooks]

/** Gives each consumer the events that it wants, in the transaction that records them. */
export async function publishEvents(scope: EventScope, events: readonly AnnotationEvent[]): Promise<void> {
  for (const { names, onRecorded } of consumers) {
    const wanted = events.filter(({ name }) => names.includes(name))
    if (wanted.length > 0) await onRecorded(scope, wanted)
  }
}

/** Gives the event to each consumer that wants it, in the transaction that records it. */
export async function publishEditorEvent(scope: EventScope, event: EditorEvent): Promise<void> {
  for (const { names, onEditorChanged } of consumers) {
    if (names.includes(event.name)) await onEditorChanged?.(scope, event)
  }
}
