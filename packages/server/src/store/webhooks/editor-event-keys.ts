import type { Triggers } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'

/** The API keys, of these, that have a webhook that wants `crdt.update_data`. */
export async function findEditorEventKeys(db: Db, apiKeys: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('service_configs')
    .select(['api_key', 'config'])
    .where('service', '=', 'webhook')
    .where('enabled', '=', 1)
    .where('api_key', 'in', apiKeys)
    .execute()
  const isWanted = (config: string) =>
    parse<{ triggers?: Triggers }>(config).triggers?.['crdt.update_data'] === true
  return new Set(rows.filter(({ config }) => isWanted(config)).map((row) => row.api_key))
}
