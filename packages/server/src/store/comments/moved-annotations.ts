import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'
import type { RowStep } from '../deletions/row-step.ts'
import { numberChange } from './annotations.ts'

/** One step moves this many annotations on SQLite. Foreign keys move their comments with them. */
const annotationsPerStep = 20

interface Move {
  apiKey: string
  organizationId: string
  documentId: string
  newDocumentId: string
}

/**
 * A step that moves annotations to another document. They get new numbers there, in their order. An annotation whose id the
 * target has is not moved.
 */
export const moveAnnotations =
  ({ apiKey, organizationId, documentId, newDocumentId }: Move): RowStep =>
  async (db: Db) => {
    const max = annotationsPerStep * paceOf(db).factor
    const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
    const { rows } = await sql<{ number: number }>`
      select number from annotations as moving
      where ${inOrganization} and document_id = ${documentId} and not exists (
        select 1 from annotations as there
        where there.api_key = ${apiKey} and there.organization_id = ${organizationId}
          and there.annotation_id = moving.annotation_id and there.document_id = ${newDocumentId}
      )
      order by number limit ${sql.lit(max)}`.execute(db)
    if (rows.length === 0) return false
    const target = { organizationId, documentId: newDocumentId }
    const numbered = await numberChange(db, apiKey, target, rows.length)
    if (!numbered) return false
    const { firstNumber, position } = numbered
    for (const [index, { number }] of rows.entries()) {
      await sql`
        update annotations
        set document_id = ${newDocumentId}, number = ${firstNumber + index}, seq = ${position.seq}
        where ${inOrganization} and document_id = ${documentId} and number = ${number}`.execute(db)
    }
    return rows.length === max
  }
