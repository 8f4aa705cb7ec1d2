import type { Db } from './engine/db.ts'

/** The allowed domains, in the order in which they were added. */
export async function all(db: Db, apiKey: string): Promise<string[]> {
  const rows = await db
    .selectFrom('allowed_domains')
    .select('domain')
    .where('api_key', '=', apiKey)
    .orderBy('position')
    .orderBy('domain')
    .execute()
  return rows.map((row) => row.domain)
}

/** Adds missing domains at the end. Returns the added domains in the given order. */
export async function add(db: Db, apiKey: string, domains: readonly string[]): Promise<string[]> {
  if (domains.length === 0) return []
  const last = await db
    .selectFrom('allowed_domains')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('api_key', '=', apiKey)
    .executeTakeFirst()
  const next = (last?.position ?? 0) + 1
  const rows = await db
    .insertInto('allowed_domains')
    .values(domains.map((domain, index) => ({ api_key: apiKey, domain, position: next + index })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('domain')
    .execute()
  return among(domains, rows)
}

/** Removes domains. Returns the removed domains in the given order. */
export async function remove(db: Db, apiKey: string, domains: readonly string[]): Promise<string[]> {
  const rows = await db
    .deleteFrom('allowed_domains')
    .where('api_key', '=', apiKey)
    .where('domain', 'in', domains)
    .returning('domain')
    .execute()
  return among(domains, rows)
}

function among(domains: readonly string[], rows: readonly { domain: string }[]): string[] {
  const found = new Set(rows.map((row) => row.domain))
  return domains.filter((domain) => found.has(domain))
}
