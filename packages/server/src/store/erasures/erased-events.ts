import { sql } from 'kysely'
import type { RowStep } from '../deletions/row-step.ts'
import { parse } from '../engine/json.ts'
import { redactedAudience } from './erased-content.ts'
import { scanRows } from './row-scan.ts'
import { type ErasedIds, redacted } from './without-users.ts'

/** What is left of an event: which thing was changed. */
interface Payload {
  annotation?: { annotationId?: string; annotationNumber?: number }
  comment?: { commentId?: number }
}

/** Empties the events that users caused or that name them. Readers of the log still see that something changed. */
export function emptyEvents(
  apiKey: string,
  named: ErasedIds,
  organizationIds: readonly string[] | undefined,
): RowStep {
  const ids = named.userIds
  const organizations = organizationIds && new Set<string | null>(organizationIds)
  return scanRows({
    table: 'events',
    key: ['transaction_id', 'event_id'],
    columns: ['organization_id', 'actor_id', 'audience', 'payload'],
    where: sql`api_key = ${apiKey}`,
    rowsPerStep: 50,
    async visit(db, rows) {
      for (const row of rows) {
        if (organizations && !organizations.has(row.organization_id)) continue
        const isActor = row.actor_id !== null && ids.has(row.actor_id)
        const audience = redactedAudience(row.audience, named)
        if (!isActor && !audience && redacted(row.payload, named) === undefined) continue
        const payload = JSON.stringify(emptied(parse(row.payload)))
        await sql`
          update events set actor_id = ${isActor ? null : row.actor_id}, audience = ${audience ?? row.audience},
            payload = ${payload}, snapshot_id = null
          where api_key = ${apiKey} and event_id = ${row.event_id}`.execute(db)
      }
    },
  })
}

const emptied = ({ annotation, comment }: Payload): Payload => ({
  ...(annotation && {
    annotation: {
      annotationId: annotation.annotationId,
      annotationNumber: annotation.annotationNumber,
    },
  }),
  ...(comment && { comment: { commentId: comment.commentId } }),
})
