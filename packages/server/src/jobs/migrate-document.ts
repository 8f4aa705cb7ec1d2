import type { Db } from '../store/db.ts'
import * as deletions from '../store/deletions.ts'
import { mergeInto } from '../store/document-merge.ts'
import * as migrations from '../store/document-migrations.ts'
import type { JobHandler } from './runner.ts'

/**
 * Moves a document to another id (spec 10.8). The state `in_progress` is committed first, so that it can be seen; the
 * move itself is one transaction with its last state, so that a server that dies leaves the document as it was.
 */
export const migrateDocument: JobHandler<'document.migrate'> = {
  async run(database, { apiKey, payload: { organizationId, migrationId } }, now, emit) {
    const started = await database.write(
      (db) => migrations.advance(db, apiKey, organizationId, migrationId, 'in_progress', now),
      apiKey,
    )
    if (!started) return
    const moved = await database.write(async (db) => {
      const migration = await migrations.find(db, apiKey, organizationId, migrationId)
      if (migration?.status !== 'in_progress') return undefined
      const { documentId, newDocumentId } = migration
      const mention = {
        organizationIds: [organizationId],
        documentIds: [documentId, newDocumentId],
        folderIds: [],
      }
      // Not the half that is left of a document.
      if (await deletions.meets(db, apiKey, mention)) throw new Error('A document is being deleted.')
      const moved = await mergeInto(db, apiKey, organizationId, documentId, newDocumentId, now)
      await migrations.advance(db, apiKey, organizationId, migrationId, moved ? 'completed' : 'failed', now)
      return moved ? migration : undefined
    }, apiKey)
    if (!moved) return
    emit({ kind: 'gone', organizationId, documentIds: [moved.documentId], isMoved: true })
    emit({ kind: 'changed', organizationId, documentIds: [moved.newDocumentId] })
    emit({ kind: 'access' })
  },

  async abandon(database, { apiKey, payload: { organizationId, migrationId } }, now) {
    const advance = (db: Db) => migrations.advance(db, apiKey, organizationId, migrationId, 'failed', now)
    await database.write(advance, apiKey)
  },
}
