import { describe, expect, test } from 'vitest'
import { tokenFor } from '../../support/access/user-tokens.ts'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { comment, commentCalls, documentId, grace, ref } from '../comments/calls.ts'

const isPlain = /^\d+\.\d+$/
const onlyGrace = { visibility: { type: 'restricted', userIds: ['grace'] } }

/** The stored positions of the tenant's events, as the server wrote them before it encrypted them. */
const plainPositions = async ({ database }: TestServer, apiKey: string) =>
  (
    await database.read
      .selectFrom('events')
      .select(['transaction_id', 'event_id'])
      .where('api_key', '=', apiKey)
      .orderBy('event_id')
      .execute()
  ).map((row) => ({ eventId: row.event_id, after: `${row.transaction_id}.${row.event_id}` }))

describe.each(stores)('what the numbers of the event log tell, on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)

  test('[27.1.7] ids, numbers and positions of events do not count the events of all tenants', async () => {
    const { apiKey, client, add, events } = await tenantWithDocument()
    const other = await tenantWithDocument()
    for (const id of ['a1', 'a2', 'a3']) {
      await add(id)
      await other.add(id)
    }
    const found = await events(3)
    const stored = await plainPositions(server, apiKey)
    for (const [index, { id, number }] of found.entries()) {
      const { eventId } = stored[index] as (typeof stored)[number]
      expect(id).toMatch(/^evt_[0-9a-f]{24}$/)
      expect(Number.isSafeInteger(number)).toBe(true)
      // Numbers of neighbours would be near each other.
      expect(Math.abs(number - eventId)).toBeGreaterThan(1_000_000)
    }
    expect(new Set(found.map(({ id }) => id)).size).toBe(3)
    expect(new Set(found.map(({ number }) => number)).size).toBe(3)
    expect(await events(3)).toEqual(found)

    const { after } = (await client.events.get({ limit: 2 })).data
    expect(after).not.toMatch(isPlain)
    const bytes = Buffer.from(after, 'base64url')
    for (const { eventId } of stored) {
      const number = Buffer.alloc(8)
      number.writeBigUInt64BE(BigInt(eventId))
      expect(bytes.includes(number.subarray(4))).toBe(false)
    }
    expect((await client.events.get({ after })).data.events).toEqual(found.slice(2))
    expect((await client.events.get({ limit: 2 })).data.after).toBe(after)
    await expect(other.client.events.get({ after })).rejects.toMatchObject({
      message: 'after must be the after of an earlier answer.',
    })
  })

  test('[27.1.7] [27.1.8] a made-up position is refused whether or not the log of all tenants has reached it', async () => {
    const { client, add, events } = await tenantWithDocument()
    const other = await tenantWithDocument()
    await add('a1')
    await events(1)
    await other.add('a1')
    await other.events(1)
    const [{ after: reached } = { after: '' }] = await plainPositions(server, other.apiKey)
    for (const after of [reached, '9999999999999999.1']) {
      await expect(client.events.get({ after })).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        message: expect.stringMatching(/^The event log has not reached this position/),
      })
    }
  })

  test('[27.1.7] neither after nor hasMore tells a user that there are hidden events', async () => {
    const tenant = await tenantWithDocument()
    const { client, add, events } = tenant
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    const ada = server.client({ token: await tokenFor(tenant, 'ada') })
    const read = async (after?: string) =>
      (await ada.events.get({ ...ref, limit: 1, ...(after !== undefined && { after }) })).data
    const hidden = (id: string) => add(id, { ...onlyGrace, commentData: [comment('x', { from: grace })] })

    await hidden('h1')
    await hidden('h2')
    await events(2)
    expect(await read()).toMatchObject({ events: [], hasMore: false })
    await add('v1')
    await hidden('h3')
    await events(4)
    const first = await read()
    expect(first).toMatchObject({ events: [{ annotationId: 'v1' }], hasMore: false })
    const quiet = await read(first.after)
    const again = await read(quiet.after)
    await hidden('h4')
    await events(5)
    const afterHidden = await read(quiet.after)
    for (const answer of [quiet, again, afterHidden]) {
      expect(answer).toEqual({ events: [], after: expect.any(String), hasMore: false })
      expect(answer.after).toHaveLength(quiet.after.length)
    }
    // Each answer has another text, so that a change of it tells nothing.
    expect(new Set([first, quiet, again, afterHidden].map(({ after }) => after)).size).toBe(4)
    expect((await read(first.after)).after).not.toBe(quiet.after)

    await add('v2')
    await hidden('h5')
    await add('v3')
    await events(8)
    const second = await read(afterHidden.after)
    expect(second).toMatchObject({ events: [{ annotationId: 'v2' }], hasMore: true })
    expect(await read(second.after)).toMatchObject({ events: [{ annotationId: 'v3' }], hasMore: false })
  })
})

describe.each(stores)('positions of readers from before they were encrypted, on %s', (store) => {
  test('[27.1.8] they stay valid, also if the events there are gone, and the events there keep their ids', async () => {
    let server = await startServer(store)
    try {
      const tenant = await commentCalls(server).tenantWithDocument()
      const { apiKey, authToken } = tenant
      await tenant.add('a1')
      await tenant.add('a2')
      await tenant.events(2)
      const stored = await plainPositions(server, apiKey)
      const last = stored.at(-1) as (typeof stored)[number]
      const [transactionId] = last.after.split('.').map(Number)
      // As the migration does.
      await server.database.write((db) =>
        db
          .updateTable('event_names')
          .set({ plain_transaction_id: transactionId as number, plain_event_id: last.eventId })
          .execute(),
      )
      server = await server.restart()
      const client = server.client({ apiKey, authToken })
      const now = commentCalls(server).withCalls({ ...tenant, client })
      const before = (stored[0] as (typeof stored)[number]).after
      expect(await now.events(1, { after: before })).toMatchObject([
        { id: `evt_${last.eventId}`, number: last.eventId, annotationId: 'a2' },
      ])
      await client.documents.delete({ organizationId: ref.organizationId, documentIds: [documentId] })
      expect(await now.events(0, { after: last.after })).toEqual([])
      await given.document({ ...tenant, client })
      await now.add('a3')
      expect(await now.events(1, { after: last.after })).toMatchObject([
        { id: expect.stringMatching(/^evt_[0-9a-f]{24}$/), annotationId: 'a3' },
      ])
    } finally {
      await server.stop()
    }
  })
})
