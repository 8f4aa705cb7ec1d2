import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { ApiError, createClient } from '@plenum/client'
import { expect, type TestContext } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { createPostgresDatabase, secretKey, type Store } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { reportCounts, rounds } from '../support/random/effort.ts'
import { createRandom } from '../support/random/random.ts'

/** Creates a workspace with its first key. The control server answers before it stores them, so this function waits. */
async function createTenant(url: string) {
  const { data: workspace } = await createClient({ url }).workspace.create({ ownerEmail: 'kill@example.com' })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  const owner = createClient({ url, workspaceId: workspace.id, workspaceAuthToken: workspace.authToken })
  const tokens = () =>
    owner.authTokens.get({ apiKey }).then(
      ({ data }) => data.authTokens,
      () => [],
    )
  await expect.poll(tokens).toHaveLength(1)
  return { apiKey, authToken: (await tokens())[0]?.token ?? '' }
}

/** Kills the server repeatedly under concurrent writes. Counts acknowledged writes, and how many of them are lost. */
export async function killRepeatedly(program: 'server' | 'earlyAnswers', store: Store, kills: number) {
  const env = {
    DATA_DIR: newFolder(),
    SECRET_KEY: secretKey,
    ...(store === 'postgres' && { DATABASE_URL: await createPostgresDatabase() }),
  }
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
    let running = true
    const writers = Array.from({ length: 8 }, async () => {
      while (running) {
        const organizationId = `org-${next++}`
        try {
          await client.organizations.add({ organizations: [{ organizationId }] })
          round.push(organizationId)
        } catch (error) {
          // Without an answer, the error has the network error as its cause.
          if (error instanceof ApiError && error.cause === undefined) throw error
          return
        }
      }
    })
    // The kill waits for a random number of answers, so that slow machines write as much as fast ones.
    const enough = 10 + random(60)
    while (round.length < enough) await new Promise((later) => setTimeout(later, random.fraction() * 5))
    await server.kill()
    running = false
    await Promise.all(writers)
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
  if (store === 'postgres') return
  const db = new DatabaseSync(join(env.DATA_DIR, 'plenum.db'))
  expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
}
