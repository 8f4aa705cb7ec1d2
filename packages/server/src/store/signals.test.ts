import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createEmptyPostgresDatabase, createPostgresDatabase } from '../../test/support/harness.ts'
import type { Database } from './engine/db.ts'
import { openDatabase } from './engine/open.ts'
import { add, readAfter } from './signals.ts'

let signalCount = 0
const newSignalId = () => `sig ${signalCount++}`

/** A PostgreSQL database, and functions for transactions that store signals. */
async function signalDatabase() {
  const url = await createPostgresDatabase()
  const database = await openDatabase({ url, dataDir: '', durability: 'full', poolSize: 4 })
  onTestFinished(() => database.close())
  const client = await connected(url)
  const store = (message: string) =>
    database.write((db) => add(db, [{ apiKey: 'key', signalId: newSignalId(), message }], 'server', 0))
  return {
    database,
    client,
    store,
    position: async () => (await readAfter(database, undefined)).position,
    async messagesAfter(position: string): Promise<string[]> {
      const { signals } = await readAfter(database, position)
      return signals === 'tooMany' ? [] : signals.map(({ message }) => message)
    },
    /** Stores a signal in a transaction that stays open. */
    async begin(message: string): Promise<pg.Client> {
      const own = await connected(url)
      await own.query('begin')
      await own.query(
        `insert into signals values ('key', $1, 'server', pg_current_xact_id()::text::bigint, $2, 0)`,
        [newSignalId(), message],
      )
      return own
    },
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Returns how many rows of `signals` the read visits: those it returns, and those that it reads in vain. */
async function visitedRows(database: Database, client: pg.Client, position: string): Promise<number> {
  let visited = 0
  const readApart: Database['readApart'] = async (statement, values) => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${statement}`,
      [...values],
    )
    for (const node of nodesOf(rows[0]?.['QUERY PLAN'][0].Plan)) {
      if (node['Relation Name'] !== 'signals') continue
      const perLoop = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
      visited += perLoop * node['Actual Loops']
    }
    return database.readApart(statement, values)
  }
  await readAfter({ readApart }, position)
  return visited
}

interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const nodesOf = (node: PlanNode | undefined): PlanNode[] =>
  node ? [node, ...(node.Plans ?? []).flatMap(nodesOf)] : []

test('[B3] a read returns exactly the signals that were committed after the position, whenever their transactions began', async () => {
  const { client, store, begin, position, messagesAfter } = await signalDatabase()
  await store('before')
  const [early, undone, open] = [await begin('early'), await begin('undone'), await begin('open')]
  await store('between')
  const newest = await begin('newest')
  const at = await position()
  await store('after')
  for (const transaction of [newest, early]) await transaction.query('commit')
  await undone.query('rollback')
  expect(await messagesAfter(at)).toEqual(['early', 'newest', 'after'])
  const { rows } = await client.query<{ message: string }>(
    `select message from signals where not pg_visible_in_snapshot(transaction_id::text::xid8, $1::pg_snapshot)
    order by transaction_id`,
    [at],
  )
  expect(rows.map(({ message }) => message)).toEqual(['early', 'newest', 'after'])
  const later = await position()
  await open.query('commit')
  expect(await messagesAfter(later)).toEqual(['open'])
  expect(await messagesAfter(await position())).toEqual([])
})

test('[B3] a read visits no signals that it does not return, also while a transaction of another database writes for long', async () => {
  const { database, client, store, position, messagesAfter } = await signalDatabase()
  const elsewhere = await connected(await createEmptyPostgresDatabase())
  await elsewhere.query('begin; select pg_current_xact_id()')
  await client.query(`do $$ begin for i in 1..3000 loop
    insert into signals values ('key', 'old ' || i, 'server', pg_current_xact_id()::text::bigint, 'old', 0);
    commit;
  end loop; end $$`)
  // Autovacuum is off in tests.
  await client.query('analyze signals')
  const at = await position()
  await store('new')
  expect(await messagesAfter(at)).toEqual(['new'])
  expect(await visitedRows(database, client, at)).toBe(1)
})
