import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { sendDigests } from './digest-mails.ts'
import { systemClock } from '../../platform/clock.ts'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import * as digests from '../../store/deliveries/digests.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as jobs from '../../store/jobs.ts'
import type { Job } from '../../store/jobs.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { runInShortSteps } from '../../../test/support/measures/other-tenant.ts'
import { documentId, options, organizationId, scene } from '../../../test/deliveries/scene.ts'

const users = 20
const messages = 60

describe.each(stores)('digests on %s', (store) => {
  const server = useServer(store, options)

  const addMessage = (db: Db, apiKey: string, number: number, documentMetadata: object = {}) => {
    const item = { event: 'comment.add', actor: { name: 'Ada' }, annotationId: 'a1', timestamp: 1 }
    const items = [{ ...item, commentText: 'x'.repeat(4000), template: { documentMetadata } }]
    const data = { organizationId, documentId, content: { kind: 'event', company: '', items } }
    return deliveries.addMessage(db, apiKey, { messageId: `d${number}`, event: 'comment.add', data }, number)
  }
  const digestJob = (apiKey: string, lane: string) => ({
    jobId: 'digest',
    apiKey,
    kind: 'email.digest' as const,
    payload: { organizationId, endedAt: 1 },
    now: 1,
    lane,
  })
  const itemsOf = (apiKey: string) =>
    server.database.read.selectFrom('digest_items').select('user_id').where('api_key', '=', apiKey)

  test('[3.3.1] [S1] [S2] digests of many users with many and large events are made in short steps', async () => {
    const { apiKey, client } = await scene(server)
    const large = { text: 'y'.repeat(60_000) }
    for (let number = 1; number <= messages; number++) {
      await server.database.write((db) => addMessage(db, apiKey, number, large))
    }
    // Each user lacks other messages, so that no two digests are equal.
    await server.database.write((db) =>
      sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(messages)}),
        u(j) as (select 1 union all select j + 1 from u where j < ${sql.lit(users)})
        insert into digest_items (api_key, organization_id, user_id, message_id, email, created_at)
        select ${apiKey}, ${organizationId}, 'u' || j, 'd' || i, 'u@example.com', i from n, u
        where i % ${sql.lit(users)} <> j - 1`.execute(db),
    )
    const digest = async () => {
      await server.database.write((db) => jobs.add(db, digestJob(apiKey, 'email.prepare/')))
      await expect.poll(() => itemsOf(apiKey).limit(1).execute(), { timeout: 60_000 }).toEqual([])
    }
    // Several mails of 200 KB each are read in one iteration, to be sent.
    await runInShortSteps(server, digest, 3, { jsonBytes: 2 * 1024 * 1024 })
    const { count } = await server.database.read
      .selectFrom('deliveries')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    // 58 or 59 events of each user are a mail with 50 and one with the rest.
    expect(count).toBe(2 * users)
    const [first] = (await client.deliveries.get({ pageSize: 1 })).data
    const stored = await deliveries.findMessages(server.database.read, apiKey, [first?.messageId ?? ''])
    expect(JSON.stringify(stored)).not.toContain('yyy')
  }, 120_000)

  test('[3.3.5] an event that another server adds while the job of the digest ends is part of a digest', async () => {
    const { apiKey } = await scene(server)
    const lane = 'email.send/test'
    // Due in an hour, so that the runner of the server does not claim it.
    const runAt = Date.now() + 60 * 60 * 1000
    await server.database.write((db) => jobs.add(db, { ...digestJob(apiKey, lane), runAt }))
    const { database } = server
    const [job] = await jobs.claim(database, { apiKey, lane }, runAt)
    let isAdded = false
    const racing: Database = {
      ...database,
      async write(work, name) {
        if (!isAdded) {
          isAdded = true
          await database.write(async (db) => {
            await addMessage(db, apiKey, 1)
            await digests.add(
              db,
              apiKey,
              organizationId,
              'd1',
              [{ userId: 'ada', email: 'a@example.com' }],
              1,
            )
            await jobs.add(db, digestJob(apiKey, lane))
          })
        }
        return database.write(work, name)
      },
    }
    const deps = { database: racing, clock: systemClock, wake: () => {}, stopping: AbortSignal.any([]) }
    expect(await sendDigests(deps, job as Job<'email.digest'>)).toBe('settled')
    expect(await itemsOf(apiKey).execute()).toEqual([])
    expect(await deliveries.findMessageIds(database.read, apiKey, ['d1'])).toEqual(new Set(['d1']))
  })
})
