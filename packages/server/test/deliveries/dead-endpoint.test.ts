import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, scene } from './scene.ts'

const waiting = 10_000

describe.each(stores)('an endpoint that is down on %s', (store) => {
  const server = useServer(store, options)

  /** Gives the endpoint copies of a delivery that it has, which are all due now. */
  async function fillLane(apiKey: string, target: string) {
    const now = Date.now() + server.clock.offsetMs
    await server.database.write(async (db) => {
      const numbers = sql`with recursive numbers(n) as (
        select 1 union all select n + 1 from numbers where n < ${sql.lit(waiting)})`
      await sql`${numbers}
        insert into deliveries (api_key, delivery_id, message_id, channel, target, event, status, attempts, next_at, created_at)
        select api_key, 'copy' || n, message_id, channel, target, event, 'pending', 0, ${sql.lit(now)}, ${sql.lit(now)}
        from deliveries, numbers where api_key = ${apiKey} and target = ${target}`.execute(db)
      await sql`${numbers}
        insert into jobs (api_key, job_id, lane, kind, payload, attempts, claims, run_at, available_at, created_at)
        select ${apiKey}, 'copy' || n, ${`webhook.send/${target}`}, 'webhook.send', '{"deliveryId":"copy' || n || '"}', 0, 0,
          ${sql.lit(now)}, ${sql.lit(now)}, ${sql.lit(now)}
        from numbers`.execute(db)
    })
  }

  test.each(['hangs', 'refuses connections'])(
    '[24.21.4] [S9] an endpoint that %s and has 10,000 deliveries delays no other endpoint and no other tenant',
    async (how) => {
      const own = await scene(server)
      const other = await scene(server)
      const [dead, alive] = [await WebhookReceiver.start(), await WebhookReceiver.start()]
      let open = 0
      dead.respond = () => void open++
      const target = await own.addEndpoint({ url: dead.url, filterTypes: ['comment_annotation.add'] })
      const isHanging = how === 'hangs'
      if (!isHanging) dead.stop()
      await own.addThread('first')
      if (isHanging) await expect.poll(() => open).toBe(1)
      else await expect.poll(() => own.deliveries({ target })).toMatchObject([{ attempts: 1 }])
      await fillLane(own.apiKey, target)
      if (isHanging) await expect.poll(() => open).toBe(1)
      await own.addEndpoint({ url: `${alive.url}/own` })
      await other.addEndpoint({ url: `${alive.url}/other` })
      for (let count = 0; count < 5; count++) {
        await own.addThread(`own ${count}`)
        await other.addThread(`other ${count}`)
        // The next ones are sent while thousands of deliveries to the dead endpoint are still due.
        await expect.poll(() => alive.eventsAt('/own').length).toBe(count + 1)
        await expect.poll(() => alive.eventsAt('/other').length).toBe(count + 1)
      }
      const { count } = await server.database.read
        .selectFrom('jobs')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('api_key', '=', own.apiKey)
        .where('lane', '=', `webhook.send/${target}`)
        .executeTakeFirstOrThrow()
      expect(count).toBeGreaterThan(waiting / 2)
      if (isHanging) expect(open).toBeLessThan(50)
      await own.client.webhookEndpoints.delete({ endpointId: target })
    },
  )
})
