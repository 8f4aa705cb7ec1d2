import { type Kysely, sql } from 'kysely'

/**
 * A domain that was entered with `www.www.` was stored with one `www.`. Delete Domains looks for the form without `www.`, so
 * it never found such a domain.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (;;) {
    await sql`
      delete from allowed_domains
      where domain like 'www.%' and exists (
        select 1 from allowed_domains as bare
        where bare.api_key = allowed_domains.api_key and bare.domain = substr(allowed_domains.domain, 5)
      )`.execute(db)
    const { numAffectedRows = 0n } = await sql`
      update allowed_domains set domain = substr(domain, 5) where domain like 'www.%'`.execute(db)
    if (numAffectedRows === 0n) return
  }
}
