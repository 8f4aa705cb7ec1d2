import type { Db } from '../store/engine/db.ts'
import * as deletions from '../store/deletions/deletions.ts'
import { mergeInto, moveRest } from '../store/documents/document-merge.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import type { JobHandler } from './runner.ts'

/**
 * Moves a document to another id (spec 10.8). The state `in_progress` is committed first, so that it can be seen. The move
 * is one transaction with its last state, so that a server that dies leaves the document as it was. Of a large document,
 * grants and notifications follow in short steps. Requests wait for them, and a server that dies leaves them to the next.
 */
export const migrateDocument: JobHandler<'document.migrate'> = {
  async run(database, { apiKey, payload: { organizationId, migrationId } }, now, emit, removeInSteps) {
    const migration = await database.write(async (db) => {
      const started = await migrations.advance(db, apiKey, organizationId, migrationId, 'in_progress', now)
      return started ? migrations.find(db, apiKey, organizationId, migrationId) : undefined
    }, apiKey)
    if (!migration) return
    const { documentId, newDocumentId } = migration
    const move = async (db: Db) => {
      const stored = await migrations.find(db, apiKey, organizationId, migrationId)
      if (stored?.status !== 'in_progress') return false
      const mention = {
        organizationIds: [organizationId],
        documentIds: [documentId, newDocumentId],
        folderIds: [],
      }
      // Not the half that is left of a document.
      if (await deletions.meets(db, apiKey, mention)) throw new Error('A document is being deleted.')
      const isMoved = await mergeInto(db, apiKey, organizationId, documentId, newDocumentId, now)
      await migrations.advance(db, apiKey, organizationId, migrationId, isMoved ? 'completed' : 'failed', now)
      return isMoved
    }
    const moveAtOnce = async (db: Db) => {
      const isMoved = await move(db)
      if (isMoved) await moveRest(db, apiKey, organizationId, documentId, newDocumentId)
      return isMoved
    }
    const scope = { organizationId, documentIds: [documentId], movedTo: newDocumentId }
    if (!(await removeInSteps(apiKey, scope, move))) {
      if (!(await database.write(moveAtOnce, apiKey))) return
      emit({ kind: 'gone', organizationId, documentIds: [documentId], isMoved: true })
    }
    emit({ kind: 'changed', organizationId, documentIds: [newDocumentId] })
    emit({ kind: 'access' })
  },

  async abandon(database, { apiKey, payload: { organizationId, migrationId } }, now) {
    const advance = (db: Db) => migrations.advance(db, apiKey, organizationId, migrationId, 'failed', now)
    await database.write(advance, apiKey)
  },
}
