import pg from 'pg'

/** When PostgreSQL has committed the updates of a document, in Unix milliseconds. */
export async function commitTimesOf(databaseUrl: string, documentId: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ at: string }>(
      `select extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as at
       from editor_updates where document_id = $1`,
      [documentId],
    )
    return rows.map(({ at }) => Number(at))
  } finally {
    await client.end()
  }
}
