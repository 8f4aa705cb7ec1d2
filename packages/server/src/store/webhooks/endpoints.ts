import type { EventName } from '@plenum/protocol'
import type { Selectable } from 'kysely'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import type { WebhookEndpointTable } from '../schema/webhook-tables.ts'

/** What a caller can change. */
export interface EndpointFields {
  url: string
  description: string | null
  /** The events that it receives. Null: all. */
  filterTypes: readonly EventName[] | null
  /** The organizations whose events it receives. Null: all. */
  channels: readonly string[] | null
  disabled: boolean
  /** Deliveries per second. Null: no limit. */
  rateLimit: number | null
  /** JSON. Read by nobody: callers store it for themselves. */
  metadata: string | null
}

/** The sealed secrets that sign deliveries (`access/credentials/endpoint-secrets.ts`). */
export interface SealedSecrets {
  secret: Uint8Array
  /** The secret before the last rotation, which signs too until `previousUntil`. */
  previousSecret: Uint8Array | null
  previousUntil: number | null
}

export interface Endpoint extends Omit<EndpointFields, 'metadata'>, SealedSecrets {
  endpointId: string
  /** Why the server disabled it. */
  disabledReason: string | null
  uid: string | null
  createdAt: number
  updatedAt: number
}

const columns = [
  'endpoint_id',
  'url',
  'description',
  'filter_types',
  'channels',
  'disabled',
  'disabled_reason',
  'rate_limit',
  'uid',
  'secret',
  'previous_secret',
  'previous_until',
  'created_at',
  'updated_at',
] as const

const endpointOf = (row: Pick<Selectable<WebhookEndpointTable>, (typeof columns)[number]>): Endpoint => ({
  endpointId: row.endpoint_id,
  url: row.url,
  description: row.description,
  filterTypes: row.filter_types === null ? null : parse<EventName[]>(row.filter_types),
  channels: row.channels === null ? null : parse<string[]>(row.channels),
  disabled: row.disabled === 1,
  disabledReason: row.disabled_reason,
  rateLimit: row.rate_limit,
  uid: row.uid,
  secret: row.secret,
  previousSecret: row.previous_secret,
  previousUntil: row.previous_until,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export async function add(
  db: Db,
  apiKey: string,
  endpoint: EndpointFields & { endpointId: string; uid: string | null; secret: Uint8Array },
  now: number,
): Promise<void> {
  const { endpointId, url, description, filterTypes, channels, disabled, rateLimit, uid } = endpoint
  await db
    .insertInto('webhook_endpoints')
    .values({
      api_key: apiKey,
      endpoint_id: endpointId,
      url,
      description,
      filter_types: filterTypes && JSON.stringify(filterTypes),
      channels: channels && JSON.stringify(channels),
      disabled: disabled ? 1 : 0,
      rate_limit: rateLimit,
      uid,
      metadata: endpoint.metadata,
      secret: endpoint.secret,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

export async function find(db: Db, apiKey: string, endpointId: string): Promise<Endpoint | undefined> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('api_key', '=', apiKey)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst()
  return row && endpointOf(row)
}

/** The endpoints of an API key, by creation time, then id. */
export async function list(
  db: Db,
  apiKey: string,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<Endpoint[]> {
  let query = db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('api_key', '=', apiKey)
    .orderBy('created_at')
    .orderBy('endpoint_id')
    .limit(limit)
  if (after) {
    const [createdAt, endpointId] = after as [number, string]
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'endpoint_id'), '>', eb.tuple(createdAt, endpointId)),
    )
  }
  return (await query.execute()).map(endpointOf)
}

/** The endpoints that receive an event of an organization. */
export async function listFor(
  db: Db,
  apiKey: string,
  event: EventName,
  organizationId: string | undefined,
): Promise<Endpoint[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('api_key', '=', apiKey)
    .where('disabled', '=', 0)
    .orderBy('created_at')
    .orderBy('endpoint_id')
    .execute()
  return rows
    .map(endpointOf)
    .filter(
      ({ filterTypes, channels }) =>
        (filterTypes === null || filterTypes.includes(event)) &&
        (channels === null || (organizationId !== undefined && channels.includes(organizationId))),
    )
}

export async function count(db: Db, apiKey: string): Promise<number> {
  const { endpoints } = await db
    .selectFrom('webhook_endpoints')
    .select(({ fn }) => fn.countAll<number>().as('endpoints'))
    .where('api_key', '=', apiKey)
    .executeTakeFirstOrThrow()
  return endpoints
}

export async function hasUid(db: Db, apiKey: string, uid: string): Promise<boolean> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('endpoint_id')
    .where('api_key', '=', apiKey)
    .where('uid', '=', uid)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns false if the endpoint does not exist. */
export async function update(
  db: Db,
  apiKey: string,
  endpointId: string,
  changes: Partial<EndpointFields>,
  now: number,
): Promise<boolean> {
  const { url, description, filterTypes, channels, disabled, rateLimit, metadata } = changes
  return set(db, apiKey, endpointId, {
    url,
    description,
    filter_types: filterTypes && JSON.stringify(filterTypes),
    channels: channels && JSON.stringify(channels),
    ...(disabled !== undefined && { disabled: disabled ? 1 : 0, disabled_reason: null }),
    rate_limit: rateLimit,
    metadata,
    updated_at: now,
  })
}

/** Disables an endpoint. `reason` is a sentence for the operator. Returns false if it has another URL by now. */
export async function disable(
  db: Db,
  apiKey: string,
  { endpointId, url }: Pick<Endpoint, 'endpointId' | 'url'>,
  reason: string,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_endpoints')
    .set({ disabled: 1, disabled_reason: reason, updated_at: now })
    .where('api_key', '=', apiKey)
    .where('endpoint_id', '=', endpointId)
    .where('url', '=', url)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export const setSecrets = (
  db: Db,
  apiKey: string,
  endpointId: string,
  { secret, previousSecret, previousUntil }: SealedSecrets,
  now: number,
): Promise<boolean> =>
  set(db, apiKey, endpointId, {
    secret,
    previous_secret: previousSecret,
    previous_until: previousUntil,
    updated_at: now,
  })

async function set(
  db: Db,
  apiKey: string,
  endpointId: string,
  values: { [C in keyof WebhookEndpointTable]?: WebhookEndpointTable[C] | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_endpoints')
    .set(values)
    .where('api_key', '=', apiKey)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Returns false if the endpoint does not exist. */
export async function remove(db: Db, apiKey: string, endpointId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_endpoints')
    .where('api_key', '=', apiKey)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
