import { sql } from 'kysely'
import type { Db } from './engine/db.ts'
import { deleteSome } from './engine/some-rows.ts'

export const validityMs = 15 * 60 * 1000
/** Rows are kept for this time, because the links of an hour are counted. */
const hourMs = 60 * 60 * 1000

/** `tokenHash` is the SHA-256 of the token, which is not stored. */
export async function add(
  db: Db,
  { tokenHash, email, now }: { tokenHash: string; email: string; now: number },
): Promise<void> {
  await db.insertInto('login_links').values({ token_hash: tokenHash, email, created_at: now }).execute()
}

/** How many links the address got within the last hour. Links that were redeemed are not counted. */
export async function countOfHour(db: Db, email: string, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('login_links')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('email', '=', email)
    .where('created_at', '>', now - hourMs)
    .executeTakeFirstOrThrow()
  return count
}

/** Removes the link, so that it works once. Returns the email address it was sent to; undefined if it is not valid. */
export async function redeem(db: Db, tokenHash: string, now: number): Promise<string | undefined> {
  const row = await db
    .deleteFrom('login_links')
    .where('token_hash', '=', tokenHash)
    .where('created_at', '>', now - validityMs)
    .returning('email')
    .executeTakeFirst()
  return row?.email
}

/** Deletes up to `maxRows` old links. Returns how many it deleted. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(db, 'login_links', sql`created_at <= ${now - hourMs}`, maxRows)
