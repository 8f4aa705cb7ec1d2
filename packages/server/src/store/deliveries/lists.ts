import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import {
  cursorOf,
  type Part,
  type Position,
  rowsPerScan,
  scan,
  type Scanning,
  type Window,
} from '../engine/scan.ts'
import type { DeliveryTable } from '../schema/delivery-tables.ts'
import type { Schema } from '../schema/schema.ts'

/** Which deliveries a list shows. All given conditions must hold. */
export interface Filter {
  status?: DeliveryTable['status'] | undefined
  channel?: DeliveryTable['channel'] | undefined
  target?: string | undefined
  event?: string | undefined
  since?: number | undefined
}

/** The deliveries with these ids that exist, in the order of the ids. */
export async function findMany(db: Db, apiKey: string, ids: readonly string[]): Promise<DeliveryTable[]> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('api_key', '=', apiKey)
    .where('delivery_id', 'in', ids)
    .execute()
  const found = new Map(rows.map((row) => [row.delivery_id, row]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Finds the next deliveries that fit, by the time when they were added, then id. */
export async function findPositions(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
  scanning: Scanning,
): Promise<Part<Position>> {
  const { status, target } = filter
  /** Conditions that an index serves. The scan uses the one with the fewest rows. */
  const indexed = [
    ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
    ...(target === undefined ? [] : [sql<boolean>`target = ${target}`]),
  ]
  if (indexed.length === 0) indexed.push(sql<boolean>`true`)
  const stepBy = (condition: RawBuilder<boolean>) => async (step: Window) => {
    const { limit, after, order } = step
    let query = db
      .selectFrom('deliveries')
      .select(['delivery_id as key', 'created_at as timestamp'])
      // A flag and not a condition: with a condition, SQLite might not read the rows in the order of the list.
      .select(sql<number>`case when ${fits(filter)} then 1 else 0 end`.as('fits'))
      .where('api_key', '=', apiKey)
      .where(condition)
      .orderBy('created_at', order)
      .orderBy('delivery_id', order)
      .limit(limit)
    if (filter.since !== undefined) query = query.where('created_at', '>=', filter.since)
    if (after) {
      const behind = sql.raw(order === 'asc' ? '>' : '<')
      query = query.where(sql<boolean>`(created_at, delivery_id) ${behind} (${sql.join(after)})`)
    }
    return query.execute()
  }
  return scan(window, scanning, {
    steps: indexed.map(stepBy),
    cursorOf,
    keep: (rows) => rows.filter((row) => row.fits === 1),
    rowsPerStep: rowsPerScan(db),
  })
}

function fits({ status, channel, target, event }: Filter) {
  const eb = expressionBuilder<Schema, 'deliveries'>()
  return eb.and([
    ...(status === undefined ? [] : [eb('status', '=', status)]),
    ...(channel === undefined ? [] : [eb('channel', '=', channel)]),
    ...(target === undefined ? [] : [eb('target', '=', target)]),
    ...(event === undefined ? [] : [eb('event', '=', event)]),
  ])
}
