import type { Scope } from '../store/deletions.ts'
import * as deletions from '../store/deletions.ts'
import type { Db } from '../store/engine/db.ts'
import { mergeInto, moveRest } from '../store/deletions/document-merge.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import type { JobHandler } from './job.ts'

export interface MigrationDeps {
  /**
   * Runs a transaction that moves documents, then moves or removes, in steps, the rows that it left at the old ids. Returns
   * false if the transaction returned false, or did not run because the scope is small enough for one transaction.
   */
  removeInSteps: (
    apiKey: string,
    scope: Extract<Scope, { movedTo?: string }>,
    transaction: (db: Db) => Promise<boolean>,
  ) => Promise<boolean>
}

/**
 * Moves a document to another id (spec 10.8). The first transaction sets the status `in_progress`, so that callers can see
 * it. The second one moves the document and sets the final status, so a server that dies before its commit leaves the
 * document as it was. The grants and notifications of a large document follow in short steps. Requests that name the document
 * wait for these steps, and after a crash the next server continues them.
 */
export const migrateDocument = ({ removeInSteps }: MigrationDeps): JobHandler<'document.migrate'> => ({
  async run({ database, job: { apiKey, payload }, now, signals }) {
    const { organizationId, migrationId } = payload
    const migration = await database.write(async (db) => {
      await migrations.advance(db, apiKey, organizationId, migrationId, 'in_progress', now)
      return migrations.find(db, apiKey, organizationId, migrationId)
    }, apiKey)
    if (!migration || migration.status === 'failed') return
    const { documentId, newDocumentId } = migration
    if (migration.status === 'completed') {
      // The answer to the commit of an earlier attempt was lost, so that open sessions do not know of the move yet.
      signals.send({ kind: 'changed', organizationId, documentIds: [documentId, newDocumentId] })
      signals.send({ kind: 'access' })
      return
    }
    const left = { kind: 'gone', organizationId, documentIds: [documentId], isMoved: true } as const
    const arrived = { kind: 'changed', organizationId, documentIds: [newDocumentId] } as const
    const messages = [left, arrived, { kind: 'access' } as const]
    const move = async (db: Db) => {
      // If another server has taken over the job, it may have moved the document already. `removeInSteps` opens transactions of
      // its own, which do not check that.
      const stored = await migrations.find(db, apiKey, organizationId, migrationId)
      if (stored?.status !== 'in_progress') return false
      const named = {
        organizationIds: [organizationId],
        documentIds: [documentId, newDocumentId],
        folderIds: [],
      }
      // A document that is being deleted is incomplete. The error makes the runner try the job again later.
      if (await deletions.isBeingDeleted(db, apiKey, named)) throw new Error('A document is being deleted.')
      const isMoved = await mergeInto(db, apiKey, organizationId, documentId, newDocumentId, now)
      await migrations.advance(db, apiKey, organizationId, migrationId, isMoved ? 'completed' : 'failed', now)
      if (isMoved) await signals.store(db, messages)
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
    }
    signals.publish(messages)
  },

  async abandon({ database, job: { apiKey, payload }, now }) {
    const { organizationId, migrationId } = payload
    const advance = (db: Db) => migrations.advance(db, apiKey, organizationId, migrationId, 'failed', now)
    await database.write(advance, apiKey)
  },
})
