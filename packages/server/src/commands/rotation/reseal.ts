import { sql } from 'kysely'
import type { Secrets } from '../../access/credentials/secrets.ts'
import { sealLoginLink, unsealLoginLink } from '../../deliveries/emails/login-links.ts'
import type { Db } from '../../store/engine/db.ts'
import { parse } from '../../store/engine/json.ts'
import type { Jobs } from '../../store/jobs.ts'
import { CommandError } from '../failure.ts'
import { type SealedColumn, sealedColumns } from './sealed-columns.ts'

/** A stored answer may have a megabyte. */
const rowsPerPage = 100

/** Seals every stored value again, in the transaction of `db`. Returns how many. Throws if one cannot be opened. */
export async function resealAll(db: Db, from: Secrets, to: Secrets): Promise<number> {
  let count = 0
  for (const column of sealedColumns) count += await resealColumn(db, column, from, to)
  return count + (await resealLoginLinks(db, from, to))
}

async function resealColumn(
  db: Db,
  { table, key, column, contextOf }: SealedColumn,
  from: Secrets,
  to: Secrets,
) {
  const keyColumns = sql.join(key.map((name) => sql.ref(name)))
  let count = 0
  let after: readonly string[] | undefined
  for (;;) {
    const isLater = after ? sql`(${keyColumns}) > (${sql.join(after)})` : sql`1 = 1`
    const { rows } = await sql<Record<string, string> & { sealed: Uint8Array }>`
      select ${keyColumns}, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null and ${isLater} order by ${keyColumns} limit ${sql.lit(rowsPerPage)}`.execute(
      db,
    )
    for (const row of rows) {
      const values = key.map((name) => row[name] as string)
      const sealed = reseal(row.sealed, contextOf(...values), from, to)
      const isRow = sql.join(
        key.map((name, index) => sql`${sql.ref(name)} = ${values[index]}`),
        sql` and `,
      )
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealed} where ${isRow}`.execute(db)
    }
    count += rows.length
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return count
    after = key.map((name) => last[name] as string)
  }
}

function reseal(sealed: Uint8Array, context: string, from: Secrets, to: Secrets): Uint8Array {
  try {
    return to.seal(from.unseal(sealed, context), context)
  } catch (cause) {
    throw new CommandError(
      `A stored secret cannot be decrypted (${context}), so nothing was changed. Use the SECRET_KEY with which the servers run.`,
      { cause },
    )
  }
}

/** Login links wait in jobs until they are sent, for 15 minutes at most. */
async function resealLoginLinks(db: Db, from: Secrets, to: Secrets): Promise<number> {
  const kind = 'email.loginLink'
  const rows = await db.selectFrom('jobs').select(['job_id', 'payload']).where('kind', '=', kind).execute()
  for (const row of rows) {
    const link = parse<Jobs[typeof kind]>(row.payload)
    const sealedUrl = sealLoginLink(to, link.email, unsealLoginLink(from, link.email, link.sealedUrl))
    const payload = JSON.stringify({ ...link, sealedUrl })
    await db.updateTable('jobs').set({ payload }).where('job_id', '=', row.job_id).execute()
  }
  return rows.length
}
