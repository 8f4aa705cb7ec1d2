import { type Client, createClient } from '@plenum/client'
import { expect, type TestContext } from 'vitest'
import { reportCounts, rounds } from '../support/random/effort.ts'
import * as given from '../support/given.ts'
import type { Store } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { createRandom } from '../support/random/random.ts'
import { killWhileWriting, newSettings } from './kills.ts'

const organizationId = 'org_1'
const ref = { organizationId, documentId: 'doc_1' }

/** The bodies of all notifications of the user. */
async function bodiesOf(client: Client, userId: string): Promise<string[]> {
  const found: string[] = []
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    const page = await client.notifications.get({
      organizationId,
      userId,
      pageSize: 200,
      ...(pageToken && { pageToken }),
    })
    found.push(...page.data.map((one) => one.displayBodyMessage ?? ''))
    pageToken = page.nextPageToken
  }
  return found
}

/** Fails if a killed server loses the notification of a comment, or adds it twice. */
export async function expectAllInInbox(
  store: Store,
  killsPerRun: number,
  context: Pick<TestContext, 'task'>,
): Promise<void> {
  const kills = rounds(killsPerRun)
  const env = {
    ...(await newSettings(store)),
    TEST_CLOCK_FROM: String(Date.now()),
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
  }
  const random = createRandom()
  let server = await startProcess('fastServer', env)
  const { url } = server
  const tenant = await given.tenant({ client: (options) => createClient({ url, ...options }) })
  const { apiKey, authToken } = tenant
  await given.document(tenant)
  await given.users(tenant, ['ada', 'grace'])
  const acknowledged: string[] = []
  let next = 0
  for (let kill = 0; kill < kills; kill++) {
    const client = createClient({ url: server.url, apiKey, authToken, retries: 0 })
    await killWhileWriting(server, { writers: 4, enough: 10 + random(30) }, async () => {
      const commentText = `comment ${next++}`
      const comment = { commentText, from: { userId: 'ada' }, triggerNotification: true }
      await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ commentData: [comment] }] })
      acknowledged.push(commentText)
    })
    server = await startProcess('fastServer', env)
  }
  const client = createClient({ url: server.url, apiKey, authToken })
  const missing = async () => {
    const found = new Set(await bodiesOf(client, 'grace'))
    return acknowledged.filter((text) => !found.has(text)).length
  }
  // A job that a killed server had claimed runs again after its lease, if servers share the database.
  await expect.poll(missing, { interval: 50, timeout: 180_000 }).toBe(0)
  const bodies = await bodiesOf(client, 'grace')
  reportCounts(context, { kills, acknowledged: acknowledged.length, delivered: bodies.length })
  expect(new Set(bodies).size).toBe(bodies.length)
  await server.terminate()
}
