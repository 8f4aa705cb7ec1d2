import { sql } from 'kysely'
import { batched } from './engine/batched.ts'
import type { Db } from './engine/db.ts'
import { parse } from './engine/json.ts'

/**
 * The events that a call records about one annotation share a snapshot of it: the first has it in its payload, and the others
 * have only its ids and the same `snapshot_id`. A call of 1 MB could otherwise store 33 MB.
 */
interface SharingEvent {
  snapshotId?: string | undefined
  payload: Record<string, unknown>
}

/** Annotations in payloads. One that has only ids names no author. */
interface Snapshot {
  annotationNumber?: unknown
  from?: unknown
}

const snapshotIn = ({ annotation }: Record<string, unknown>) => annotation as Snapshot | undefined

/** Gives the payload of each event its annotation, unless the event that had it was removed or emptied. */
export async function withSnapshots<E extends SharingEvent>(
  db: Db,
  apiKey: string,
  events: readonly E[],
): Promise<E[]> {
  const lacksSnapshot = ({ snapshotId, payload }: E) =>
    snapshotId !== undefined && snapshotIn(payload)?.from === undefined
  const ids = new Set(events.filter(lacksSnapshot).map(({ snapshotId }) => snapshotId as string))
  if (ids.size === 0) return [...events]
  const rows = await findFirst(
    db,
    [...ids].map((snapshot_id) => ({ api_key: apiKey, snapshot_id })),
  )
  const found = new Map(
    rows.map(({ snapshot_id, payload }) => [
      snapshot_id,
      snapshotIn(parse<Record<string, unknown>>(payload)),
    ]),
  )
  return events.map((event) => {
    const annotation = lacksSnapshot(event) ? found.get(event.snapshotId as string) : undefined
    return annotation?.from === undefined ? event : { ...event, payload: { ...event.payload, annotation } }
  })
}

interface FirstEvent {
  snapshot_id: string
  payload: string
}

const findFirst = batched<'api_key' | 'snapshot_id', FirstEvent>(
  { api_key: 'text', snapshot_id: 'text' },
  ({ row, fromRows, isPostgres }) => {
    const first = sql<FirstEvent>`
      select snapshot_id, payload from events where api_key = ${row.api_key} and snapshot_id = ${row.snapshot_id}
      order by event_id limit 1`
    return isPostgres ? sql<FirstEvent>`select e.* ${fromRows} cross join lateral (${first}) as e` : first
  },
)

/** The size of the payload that readers get, or a little more. */
export const shownBytes = sql<number>`octet_length(payload) + case when snapshot_id is null then 0 else coalesce((
  select octet_length(one.payload) from events as one
  where one.api_key = events.api_key and one.snapshot_id = events.snapshot_id order by one.event_id limit 1
), 0) end`
