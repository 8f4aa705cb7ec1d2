import { expect, onTestFinished, test } from 'vitest'
import { createMemoryLinks } from '../../src/platform/server-link/memory-link.ts'
import { eventually, synced } from '../support/clients/convergence.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { startServer, type TestServer } from '../support/harness.ts'
import { metric } from '../support/measures/metrics-page.ts'
import { createRandom } from '../support/random/random.ts'
import { cuttableLink, startTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

async function openOnBoth(a: TestServer, b: TestServer) {
  const tenant = await given.tenant(a)
  await given.document(tenant)
  const ada = yjsClient(a, await tokenFor(tenant, 'ada'))
  const bob = yjsClient(b, await tokenFor(tenant, 'bob'))
  await synced(ada, bob)
  const typeAndRead = async () => {
    ada.text.insert(0, 'a')
    await eventually(() => bob.text.length).toBe(ada.text.length)
  }
  return { typeAndRead }
}

test('[B2] without a link, what a user types reaches the clients of another server', async () => {
  const { typeAndRead } = await openOnBoth(...(await startTwoServers('no link')))
  const random = createRandom()
  for (let n = 0; n < 6; n++) {
    // At another moment between two polls each time.
    await new Promise((resolve) => setTimeout(resolve, random(1_000)))
    await typeAndRead()
  }
})

test('[B2] a change whose message is lost on a connected link is found in the database, and counted', async () => {
  const createLink = createMemoryLinks()
  const cuttable = cuttableLink(createLink())
  const a = await startServer('postgres', { link: createLink() })
  const b = await startServer('postgres', { link: cuttable.link, data: a.data })
  onTestFinished(() => a.stop())
  onTestFinished(() => b.stop())
  const { typeAndRead } = await openOnBoth(a, b)
  const healed = async () => (await metric(b, 'plenum_gaps_healed_total')) ?? 0
  await typeAndRead()
  const before = await healed()
  cuttable.loseMessages()
  await typeAndRead()
  expect(await healed()).toBeGreaterThan(before)
  expect(await metric(b, 'plenum_peer_link_connected')).toBe(1)
})
