import type { Db } from './db.ts'

/** In the order in which they were added. */
export async function all(db: Db, apiKey: string): Promise<string[]> {
  const rows = await db
    .selectFrom('allowed_domains')
    .select('domain')
    .where('api_key', '=', apiKey)
    .orderBy('position')
    .execute()
  return rows.map((row) => row.domain)
}

/** Adds those that are not there yet, behind the others, and returns them. */
export async function add(db: Db, apiKey: string, domains: readonly string[]): Promise<string[]> {
  const known = await all(db, apiKey)
  const added = domains.filter((domain) => !known.includes(domain))
  if (added.length === 0) return []
  const last = await db
    .selectFrom('allowed_domains')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('api_key', '=', apiKey)
    .executeTakeFirst()
  const next = (last?.position ?? 0) + 1
  await db
    .insertInto('allowed_domains')
    .values(added.map((domain, index) => ({ api_key: apiKey, domain, position: next + index })))
    .execute()
  return added
}
