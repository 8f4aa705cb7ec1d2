import type { Triggers } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'

/**
 * Those of the API keys whose webhooks want events about changed editors: the basic ones with their trigger, or the advanced
 * ones. Which endpoints want them is found out when there is an event.
 */
export async function findEditorEventKeys(db: Db, apiKeys: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('service_configs')
    .select(['api_key', 'service', 'config'])
    .where('service', 'in', ['webhook', 'advancedWebhook'])
    .where('enabled', '=', 1)
    .where('api_key', 'in', apiKeys)
    .execute()
  const isWanted = (config: string) =>
    parse<{ triggers?: Triggers }>(config).triggers?.['crdt.update_data'] === true
  const wanting = rows.filter(({ service, config }) => service === 'advancedWebhook' || isWanted(config))
  return new Set(wanting.map((row) => row.api_key))
}
