import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { eventually, synced } from '../support/clients/convergence.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { dialects, rawClient } from '../support/clients/raw-clients.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { startServer } from '../support/harness.ts'
import { metric } from '../support/measures/metrics-page.ts'
import { Proxy } from '../support/faults/proxy.ts'
import { undisturbedNow } from '../support/measures/processor-time.ts'
import { type Revocation, revocations, stageFor } from '../support/access/revocations.ts'
import { type LinkKind, linkOptions } from '../support/servers/links.ts'
import { useTwoServers } from '../support/servers/two-servers.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { wordsIn, wordUpdate } from '../support/random/words.ts'
import { documentRef, expectRevokedOver } from './access.ts'

afterEach(closeClients)

const kinds: readonly LinkKind[] = ['no link', 'PostgreSQL', 'Redis']

/** One cause of each effect, for the links between servers. `access.long.test.ts` runs all of them there. */
const sample = ['a lesser role by Add Permissions', 'Remove Permissions', 'a deleted document']

describe.each(kinds)('access that is taken away over another server (%s)', (kind) => {
  const [near, far] = useTwoServers(kind)

  // Time passes on all servers by itself.
  test.each(
    revocations.filter(({ byTime, cause }) => !byTime && (kind === 'no link' || sample.includes(cause))),
  )('[B3] [R9] $cause takes effect on every server', (revocation) => expectRevokedOver(near, far, revocation))

  /** Opens a client in each dialect on the far server, and expects that the cause closes all of them. */
  async function expectClosed(
    by: (tenant: given.Tenant) => Promise<{ token?: string; headers?: Record<string, string> }>,
    cause: (tenant: given.Tenant) => Promise<unknown>,
  ): Promise<void> {
    const tenant = await given.tenant(near)
    await given.document(tenant)
    const target = { organizationId: 'org_1', documentId: 'doc_1', ...(await by(tenant)) }
    const clients = dialects.map((dialect) => rawClient(far, dialect, { ...target, editorId: dialect }))
    await Promise.all(clients.map((client) => client.opened()))
    for (const client of clients) expect(await client.update(wordUpdate('before'))).toBe('saved')

    await cause(tenant)
    await Promise.all(clients.map((client) => client.ended))
    for (const client of clients) expect(await client.update(wordUpdate('after'))).toBe('refused')
  }

  test('[B3] [R9] a reset of the auth tokens closes the connections of backends within a second on every server', () =>
    expectClosed(
      async ({ headers }) => ({ headers }),
      ({ client, apiKey }) => client.authTokens.reset({ apiKey }),
    ))

  test('[B3] [R9.3] removing a domain closes the connections of its pages within a second on every server', () =>
    expectClosed(
      async (tenant) => {
        await tenant.client.domains.add({ domains: ['example.com'] })
        return { token: await tokenFor(tenant), headers: { origin: 'https://example.com' } }
      },
      ({ client }) => client.domains.delete({ domains: ['example.com'] }),
    ))
})

test('[B3.4] a server without access to the database sends no edits to a reader who lost access over another server', async () => {
  const { env } = (await linkOptions('Redis'))()
  const near = await startServer('postgres', { env, isAlone: true })
  onTestFinished(() => near.stop())
  const proxy = await Proxy.start(near.data.databaseUrl ?? '')
  onTestFinished(() => proxy.close())
  const data = { ...near.data, databaseUrl: proxy.url }
  const far = await startServer('postgres', { env, data, isAlone: true })
  onTestFinished(() => far.stop())
  for (const server of [near, far]) await expect.poll(() => metric(server, 'plenum_peers')).toBe(1)

  const revocation = revocations.find(({ cause }) => cause === 'Remove Permissions') as Revocation
  const stage = await stageFor(near, revocation)
  far.clock.offsetMs = near.clock.offsetMs
  const writer = rawClient(near, 'yjs', { ...documentRef, editorId: 'e1', headers: stage.tenant.headers })
  await writer.opened()
  const reader = yjsClient(far, stage.token, { name: 'o1/d1/e1' })
  await synced(reader)
  let isClosed = false
  reader.provider.on('connection-close', () => {
    isClosed = true
    reader.provider.shouldConnect = false
  })
  expect(await writer.update(wordUpdate('before'))).toBe('saved')
  await eventually(() => wordsIn(reader.text.toString())).toEqual(['before'])

  proxy.refuse()
  proxy.cut()
  await revocation.act(stage)
  const revokedAt = undisturbedNow()
  await expect.poll(() => undisturbedNow() - revokedAt, { interval: 100 }).toBeGreaterThan(1_500)
  expect(await writer.update(wordUpdate('after'))).toBe('saved')
  await expect.poll(() => isClosed || wordsIn(reader.text.toString()).includes('after')).toBe(true)
  proxy.restore()
  expect(wordsIn(reader.text.toString())).toEqual(['before'])
})
