import { createClient } from '@plenum/client'
import { expect, onTestFinished, test } from 'vitest'
import * as given from '../support/given.ts'
import { createPostgresDatabase, secretKey } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { Proxy } from '../support/faults/proxy.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { converged, synced } from '../support/clients/convergence.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { RawSocket } from '../support/clients/raw-socket.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { hocuspocusTypist, yjsTypist } from '../support/clients/typists.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'

const name = 'org_1/doc_1/note'

test(
  '[R15] [O4] when one of two servers stops under load, clients move to the other one, no call fails, and nothing acknowledged is lost',
  { retry: 0, timeout: 120_000 },
  async () => {
    // After this time a server ends with code 1. Its clients have moved long before.
    const stopping = { SHUTDOWN_SECONDS: '60' }
    const env = { ...stopping, SECRET_KEY: secretKey, DATABASE_URL: await createPostgresDatabase() }
    const [old, other] = await Promise.all([startProcess('server', env), startProcess('server', env)])
    const balancer = await Proxy.start(old.url)
    onTestFinished(() => balancer.close())
    const tenant = await given.tenant({
      client: (options) => createClient({ url: balancer.url, ...options }),
    })
    const token = await tokenFor(tenant)

    // Backends, with the retries that the client makes by default.
    const acknowledged: string[] = []
    const failed: unknown[] = []
    let isWriting = true
    onTestFinished(() => void (isWriting = false))
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let count = 0; isWriting; count++) {
        const organizationId = `o${writer}-${count}`
        await tenant.client.organizations.add({ organizations: [{ organizationId }] }).then(
          () => acknowledged.push(organizationId),
          (error: unknown) => failed.push(error),
        )
      }
    })
    // Editors, with three protocols.
    const typists = [1, 2].flatMap((one) => [
      yjsTypist(balancer, token, name, `y${one}`),
      hocuspocusTypist(balancer, token, name, `h${one}`),
    ])
    const connection = plenumConnection(createClient({ url: balancer.url }), token)
    const own = connection.document('org_1', 'doc_1').editor('note')
    await own.whenSynced
    await expect.poll(() => typists.every((one) => one.isReady()), { timeout: 20_000 }).toBe(true)
    const typing = typists.map((one) => one.type())
    const confirmed = () => typists.flatMap((one) => one.confirmed)
    const [watcher, raw] = [
      await RealtimeSocket.connect(balancer, token),
      await RawSocket.connect(balancer, `/yjs/${name}?token=${token}`),
    ]
    await expect
      .poll(() => Math.min(confirmed().length, acknowledged.length), { timeout: 20_000 })
      .toBeGreaterThan(40)
    own.doc.getText('content').insert(0, '<own.before>')

    const ended = old.terminate()
    const readiness = async () => (await fetch(`${old.url}/readyz`)).status
    await expect.poll(readiness, { interval: 5 }).toBe(503)
    balancer.sendTo(other.url)
    const { retryAfterMs } = await watcher.take('moved')
    expect(retryAfterMs).toBeGreaterThanOrEqual(0)
    expect(retryAfterMs).toBeLessThanOrEqual(5_000)
    for (const socket of [watcher, raw]) expect((await socket.closed).code).toBe(1012)
    expect(await ended).toBe(0)

    // All go on at the other server.
    const [writtenBefore, confirmedBefore] = [acknowledged.length, confirmed().length]
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(writtenBefore + 20)
    await expect.poll(() => confirmed().length, { timeout: 20_000 }).toBeGreaterThan(confirmedBefore + 20)
    own.doc.getText('content').insert(0, '<own.after>')
    for (const one of typists) one.stop()
    isWriting = false
    await Promise.all([...typing, ...writers])
    expect(failed).toEqual([])
    const reader = yjsClient(other, token, { name })
    await synced(reader)
    await converged(reader.doc, own.doc, ...typists.map((one) => one.doc))
    const text = reader.text.toString()
    const words = ['<own.before>', '<own.after>', ...typists.flatMap((one) => one.typed)]
    expect(words.filter((word) => !text.includes(word))).toEqual([])
    for (let at = 0; at < acknowledged.length; at += 30) {
      const organizationIds = acknowledged.slice(at, at + 30)
      const { data } = await tenant.client.organizations.get({ organizationIds })
      expect(data).toHaveLength(organizationIds.length)
    }
    closeClients()
    await other.terminate()
  },
)
