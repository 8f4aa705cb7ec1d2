import { sql } from 'kysely'
import { paceOf } from '../engine/pace.ts'
import type { RowStep } from '../deletions/row-step.ts'
import { firstFew } from './annotation.ts'
import { numberChange } from './annotations.ts'

/** One step moves this many annotations on SQLite, and no more comments and bytes together. Foreign keys move the comments. */
const annotationsPerStep = 20
const maxPerStep = { comments: 200, bytes: 512 * 1024 }

interface MovedRow {
  number: number
  comments: number
  commentBytes: number
  isThere: number
}

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
  async (db, _, after) => {
    const { factor } = paceOf(db)
    const max = annotationsPerStep * factor
    const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
    const { rows } = await sql<MovedRow>`
      select number, comments, comment_bytes as "commentBytes", case when exists (
        select 1 from annotations as there
        where there.api_key = ${apiKey} and there.organization_id = ${organizationId}
          and there.annotation_id = moving.annotation_id and there.document_id = ${newDocumentId}
      ) then 1 else 0 end as "isThere"
      from annotations as moving
      where ${inOrganization} and document_id = ${documentId} and number > ${after?.[0] ?? 0}
      order by number limit ${sql.lit(max)}`.execute(db)
    const some = firstFew(rows, { comments: maxPerStep.comments * factor, bytes: maxPerStep.bytes * factor })
    const moving = some.filter(({ isThere }) => isThere === 0)
    if (moving.length > 0) {
      const target = { organizationId, documentId: newDocumentId }
      const numbered = await numberChange(db, apiKey, target, moving.length)
      if (!numbered) return false
      const { firstNumber, position } = numbered
      for (const [index, { number }] of moving.entries()) {
        await sql`
          update annotations
          set document_id = ${newDocumentId}, number = ${firstNumber + index}, seq = ${position.seq},
            created_seq = ${position.seq}, audience_seq = ${position.seq}
          where ${inOrganization} and document_id = ${documentId} and number = ${number}`.execute(db)
      }
    }
    const last = some.at(-1)
    return last && (some.length < rows.length || rows.length === max) ? [last.number] : false
  }
