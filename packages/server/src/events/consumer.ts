import type { RecordedName } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Db } from '../store/engine/db.ts'
import type { NewEvent } from '../store/events.ts'

/** Where a change comes from: `sdk` from a user, `rest` from a backend. */
export type Platform = 'sdk' | 'rest'

/** An event about an annotation, as the transaction that causes it records it. */
export interface AnnotationEvent extends NewEvent {
  organizationId: string
  documentId: string
  annotationId: string
  /** The annotation after the change, also if the payload has only its ids. */
  annotation: { annotationId: string; annotationNumber: number; createdAt?: number }
  /** The number of the document's change. */
  seq: number
  /** The comment that the event is about. */
  commentId?: number | undefined
  platform: Platform
  /** Whether a user caused the event, or the backend asked to record it as an activity. */
  isActivity: boolean
  /** Whether the same transaction deletes the annotation. */
  isAnnotationDeleted: boolean
}

/** An event about the changed content of an editor. */
export interface EditorEvent extends NewEvent {
  name: 'crdt.update_data'
  organizationId: string
  documentId: string
  editorId: string
  platform: Platform
}

export interface EventScope {
  /** The transaction that records the events. */
  db: Db
  key: ApiKey
  now: number
  /** Makes the job runner look for jobs in a lane, once the transaction is durable. */
  wakeJobs: (lane?: string) => void
}

/** A part of the server that acts on events. */
export interface EventConsumer {
  /** The events that it wants. */
  names: readonly RecordedName[]
  /** Runs in the transaction of the events. Work that takes long is left to a job. */
  onRecorded(scope: EventScope, events: readonly AnnotationEvent[]): Promise<void>
  /** As `onRecorded`, for the changed content of an editor. */
  onEditorChanged?(scope: EventScope, event: EditorEvent): Promise<void>
}
