import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { addEvents } from '../../support/data/stored-events.ts'
import { createRandom } from '../../support/random/random.ts'
import { comment, commentCalls } from '../comments/calls.ts'

/** A transaction that takes its number and the number of its event, and commits when it is told to. */
async function lateEvent({ database }: TestServer, apiKey: string) {
  let written = () => {}
  const isWritten = new Promise<void>((resolve) => (written = resolve))
  let commit = () => {}
  const mayCommit = new Promise<void>((resolve) => (commit = resolve))
  const committed = database.write(async (db) => {
    await addEvents(db, apiKey, [{ isLate: true }], 1)
    written()
    await mayCommit
  })
  await isWritten
  return { commit: () => (commit(), committed) }
}

describe('the order of the event log on PostgreSQL', () => {
  const server = useServer('postgres')
  const { tenantWithDocument } = commentCalls(server)

  test('[27.1.1] a reader never skips an event that was numbered early and committed late; a reader by number does', async () => {
    const { apiKey, client, add, reply, events: eventsOf } = await tenantWithDocument()
    await add('a1')
    await eventsOf(1)
    const random = createRandom()
    const seen: string[] = []
    let after = (await client.events.get({})).data.after
    const { rows: already } = await sql<{ number: number }>`
      select event_id as number from events where api_key = ${apiKey}`.execute(server.database.read)
    const first = already[0]?.number ?? 0
    const control = { last: first, seen: [] as number[] }
    const poll = async () => {
      const { data } = await client.events.get({ after })
      seen.push(...data.events.map(({ id }) => id))
      ;({ after } = data)
      const { rows } = await sql<{ number: number }>`
        select event_id as number from events where api_key = ${apiKey} and event_id > ${control.last}
        order by event_id`.execute(server.database.read)
      control.seen.push(...rows.map(({ number }) => number))
      control.last = control.seen.at(-1) ?? control.last
    }
    for (let round = 0; round < 10; round++) {
      const late = await lateEvent(server, apiKey)
      for (let others = 1 + random(3); others > 0; others--) await reply('a1', comment('x'))
      await poll()
      await late.commit()
      await poll()
    }
    const all = await server.database.read
      .selectFrom('events')
      .select('event_id')
      .where('api_key', '=', apiKey)
      .orderBy('transaction_id')
      .orderBy('event_id')
      .execute()
    const expected = all.map((row) => row.event_id).filter((number) => number !== first)
    await expect.poll(async () => (await poll(), seen.length), { timeout: 20_000 }).toBe(expected.length)
    expect(seen).toEqual((await eventsOf(expected.length + 1)).slice(1).map(({ id }) => id))
    expect(expected.filter((number) => !control.seen.includes(number))).toHaveLength(10)
  })

  test('[27.1.5] after a restore on a server with a lower counter, new events follow the stored ones and readers continue', async () => {
    let here = await startServer('postgres')
    try {
      const tenant = await commentCalls(here).tenantWithDocument()
      await tenant.add('a1')
      await tenant.add('a2')
      await tenant.events(2)
      // As in a dump of a server that has run more transactions than this one.
      const ahead = 5_000_000
      await here.database.write((db) =>
        sql`update events set transaction_id = transaction_id + ${ahead}`.execute(db),
      )
      const [one] = await here.database.read
        .selectFrom('events')
        .select(['transaction_id', 'event_id'])
        .where('api_key', '=', tenant.apiKey)
        .orderBy('event_id')
        .execute()
      const after = `${one?.transaction_id}.${one?.event_id}`
      here = await here.restart()
      const { withCalls } = commentCalls(here)
      const { apiKey, authToken } = tenant
      const now = withCalls({ ...tenant, client: here.client({ apiKey, authToken }) })
      const ids = async (count: number, filter: object) =>
        (await now.events(count, filter)).map(({ annotationId }) => annotationId)
      expect(await ids(1, { after })).toEqual(['a2'])
      await now.add('a3')
      expect(await ids(2, { after })).toEqual(['a2', 'a3'])
      expect(await ids(3, {})).toEqual(['a1', 'a2', 'a3'])
      here = await here.restart()
      const again = commentCalls(here).withCalls({ ...tenant, client: here.client({ apiKey, authToken }) })
      await again.add('a4')
      expect((await again.events(3, { after })).map(({ annotationId }) => annotationId)).toEqual([
        'a2',
        'a3',
        'a4',
      ])
      const offsets = await here.database.read
        .selectFrom('event_log')
        .select('first_transaction_id')
        .execute()
      expect(offsets).toEqual([{ first_transaction_id: 10_000_000_000_000 }])
    } finally {
      await here.stop()
    }
  })
})

describe.each(stores)('positions of another copy on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)

  test('[27.1.5] a position that the log has not reached is refused', async () => {
    const { apiKey, client, add, events } = await tenantWithDocument()
    await add('a1')
    await events(1)
    const { data } = await client.events.get({})
    const { transaction_id: transactionId, event_id: eventId } = await server.database.read
      .selectFrom('events')
      .select(['transaction_id', 'event_id'])
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    const ahead = store === 'sqlite' ? `0.${eventId + 1_000}` : `${transactionId + 1_000_000}.${eventId}`
    for (const after of [ahead, '9999999999999999.1']) {
      await expect(client.events.get({ after })).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        message: expect.stringMatching(/^The event log has not reached this position/),
      })
    }
    expect((await client.events.get({ after: data.after })).data.events).toEqual([])
  })
})
