import type { Db } from './engine/db.ts'
import { parse } from './engine/json.ts'
import type { ServiceConfigTable } from './schema/schema.ts'

export type Service = ServiceConfigTable['service']

export interface ServiceConfig<C> {
  enabled: boolean
  /** The settings, without secrets. */
  config: C
  /** The sealed credential of the service provider. */
  secret: Uint8Array | null
}

export async function find<C>(
  db: Db,
  apiKey: string,
  service: Service,
): Promise<ServiceConfig<C> | undefined> {
  const row = await db
    .selectFrom('service_configs')
    .select(['enabled', 'config', 'secret'])
    .where('api_key', '=', apiKey)
    .where('service', '=', service)
    .executeTakeFirst()
  return row && { enabled: row.enabled === 1, config: parse<C>(row.config), secret: row.secret }
}

export async function save<C>(
  db: Db,
  apiKey: string,
  service: Service,
  saved: ServiceConfig<C>,
): Promise<void> {
  const values = {
    enabled: saved.enabled ? 1 : 0,
    config: JSON.stringify(saved.config),
    secret: saved.secret,
  }
  await db
    .insertInto('service_configs')
    .values({ api_key: apiKey, service, ...values })
    .onConflict((conflict) => conflict.columns(['api_key', 'service']).doUpdateSet(values))
    .execute()
}
