import { isBackendUserId } from '../access/backend-users.ts'
import type { EditorEvent } from '../events/consumer.ts'
import { publishEditorEvent } from '../events/consumers.ts'
import * as apiKeys from '../store/api-keys.ts'
import * as editors from '../store/editors/editors.ts'
import * as events from '../store/events.ts'
import * as jobs from '../store/jobs.ts'
import type { EditorRef } from '../store/refs.ts'
import type { JobHandler } from './job.ts'

/**
 * Records that the content of an editor has changed (spec 24.2.1). The editor is locked first: an update that was stored before
 * is part of what the event announces, and an update that waits for the lock finds no job and adds one.
 */
export const announceEditor: JobHandler<'crdt.changed'> = {
  async run({ database, job, now, wake }) {
    const { apiKey, payload } = job
    const key = (await apiKeys.find(database.read, apiKey))?.key
    const lanes = await database.write(async (db) => {
      const woken = new Set<string>()
      const editor = await editors.lock(db, apiKey, payload, payload.createdAt)
      if (!(await jobs.finish(db, job)) || !editor || !key) return woken
      const event = eventOf(payload, editor)
      await events.add(db, apiKey, [event], now)
      await publishEditorEvent({ db, key, now, wakeJobs: (lane = '') => woken.add(lane) }, event)
      return woken
    }, apiKey)
    for (const lane of lanes) wake(lane)
    return 'settled'
  },

  // The change is stored, so it is announced some time.
  async abandon({ database, job, now }) {
    await database.write((db) => jobs.reschedule(db, job.apiKey, [job.jobId], now + retryMs), job.apiKey)
  },
}

const retryMs = 60 * 1000

function eventOf(
  { organizationId, documentId, editorId }: EditorRef,
  { lastUpdatedBy, sessionId, lastUpdated }: editors.LastChange,
): EditorEvent {
  const isByBackend = isBackendUserId(lastUpdatedBy)
  const lastUpdate = new Date(lastUpdated).toISOString()
  return {
    name: 'crdt.update_data',
    organizationId,
    documentId,
    editorId,
    platform: isByBackend ? 'rest' : 'sdk',
    // Nobody is named for content whose author was erased.
    actorId: isByBackend || lastUpdatedBy === '' ? undefined : lastUpdatedBy,
    notifies: true,
    payload: { crdtData: { id: editorId, lastUpdatedBy, sessionId, lastUpdate } },
  }
}
