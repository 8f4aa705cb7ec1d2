import { createClient } from '@plenum/client'
import { expect, type TestContext } from 'vitest'
import type { Store } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { reportCounts, rounds } from '../support/random/effort.ts'
import { createRandom } from '../support/random/random.ts'
import { createTenant, expectIntact, killWhileWriting, newSettings } from './kills.ts'

/** Kills the server repeatedly under concurrent writes. Counts acknowledged writes, and how many of them are lost. */
export async function killRepeatedly(program: 'server' | 'earlyAnswers', store: Store, kills: number) {
  const env = await newSettings(store)
  const random = createRandom()
  const acknowledged: string[] = []
  let credentials: Awaited<ReturnType<typeof createTenant>> | undefined
  let lost = 0
  let next = 0

  const clientOf = async ({ url }: ServerProcess) => {
    credentials ??= await createTenant(url)
    return createClient({ url, ...credentials, retries: 0 })
  }

  let server = await startProcess(program, env)
  for (let kill = 0; kill < kills; kill++) {
    const client = await clientOf(server)
    const round: string[] = []
    await killWhileWriting(server, { writers: 8, enough: 10 + random(60) }, async () => {
      const organizationId = `org-${next++}`
      await client.organizations.add({ organizations: [{ organizationId }] })
      round.push(organizationId)
    })
    server = await startProcess(program, env)
    const survivors = await clientOf(server)
    for (let at = 0; at < round.length; at += 30) {
      const ids = round.slice(at, at + 30)
      const { data } = await survivors.organizations.get({ organizationIds: ids })
      lost += ids.length - data.length
    }
    acknowledged.push(...round)
  }

  // Writes that survived one kill must also survive the later ones.
  const client = await clientOf(server)
  const found = new Set<string>()
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    const page = await client.organizations.get({ pageSize: 1000, ...(pageToken && { pageToken }) })
    for (const { id } of page.data) found.add(id)
    pageToken = page.nextPageToken
  }
  await server.terminate()
  const missing = acknowledged.filter((id) => !found.has(id)).length
  return { env, kills, acknowledged: acknowledged.length, lost: Math.max(lost, missing) }
}

/** Fails if a killed server loses an acknowledged write, or damages its file. */
export async function expectNothingLost(
  store: Store,
  killsPerRun: number,
  context: Pick<TestContext, 'task'>,
): Promise<void> {
  const { env, ...counts } = await killRepeatedly('server', store, rounds(killsPerRun))
  reportCounts(context, counts)
  expect(counts.lost).toBe(0)
  expect(counts.acknowledged).toBeGreaterThanOrEqual(10 * counts.kills)
  expectIntact(env)
}
