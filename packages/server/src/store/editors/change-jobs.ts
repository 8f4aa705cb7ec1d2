import { createHash } from 'node:crypto'
import type { Db } from '../engine/db.ts'
import * as jobs from '../jobs.ts'
import type { EditorRef } from '../refs.ts'

/** Changes within this time after the first one are announced together. */
const collectMs = 5_000

export interface ChangedEditor {
  apiKey: string
  editor: EditorRef
  createdAt: number
}

/**
 * Adds a job that announces the change of each editor, unless one waits already. Call it after the update was appended, in the
 * same transaction: the editor is locked then, so the job that waits cannot end before this transaction.
 */
export async function announceChanges(db: Db, changed: readonly ChangedEditor[], now: number): Promise<void> {
  const kind = 'crdt.changed' as const
  const lane = jobs.laneOf(kind)
  const added = changed.map(({ apiKey, editor, createdAt }) => {
    const { organizationId, documentId, editorId } = editor
    const payload = { organizationId, documentId, editorId, createdAt }
    return { jobId: jobIdOf(payload), apiKey, kind, lane, payload, now, runAt: now + collectMs }
  })
  await jobs.addMany(db, added)
}

/** One job for each editor. Another editor with the same id is created at another time. */
const jobIdOf = (payload: object) =>
  `crdt_${createHash('sha256').update(JSON.stringify(payload)).digest('base64url')}`
