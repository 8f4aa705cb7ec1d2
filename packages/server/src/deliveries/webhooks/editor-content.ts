import { Busy, TooMuchWork } from '../../crdt/content/errors.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import type { Db } from '../../store/engine/db.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { ContentEvent } from '../../events/webhook-event.ts'
import type { WebhookCrdtData } from './webhook-data.ts'

/** Larger content is left out: the receiver can read it with Get CRDT Data. */
const maxContentBytes = 256 * 1024

/** Reads the content of an editor as it is now, in a thread unless it is small. */
export async function readEditorContent(
  db: Db,
  storedDocuments: Pick<StoredDocuments, 'render'>,
  apiKey: string,
  { organizationId, documentId, editorId, payload }: ContentEvent,
): Promise<WebhookCrdtData> {
  const editor = { organizationId, documentId, editorId }
  const stored = await editorLog.read(db, apiKey, editor)
  if (!stored) return { ...(payload.crdtData as WebhookCrdtData), isDataOmitted: true }
  const { lastUpdatedBy, sessionId } = stored
  const lastUpdate = new Date(stored.lastUpdated).toISOString()
  const shown = { id: editorId, lastUpdatedBy, sessionId, lastUpdate }
  try {
    const json = await storedDocuments.render(
      sourceOf(apiKey, editor, stored),
      editorLog.partsOf(stored),
      stored,
    )
    if (json.length > maxContentBytes) return { ...shown, isDataOmitted: true }
    return { ...shown, data: JSON.parse(Buffer.from(json).toString()) }
  } catch (error) {
    // The job tries again when the threads have less to do. Content that cannot be read stays unreadable.
    if (error instanceof Busy || error instanceof TooMuchWork) throw error
    return { ...shown, isDataOmitted: true }
  }
}
