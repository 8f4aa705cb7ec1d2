import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { allowLoopback, type TestProvider, useProvider } from '../../support/receivers/permission-provider.ts'
import { annotationId, organizationId, scene } from './scene.ts'

const options = { jobPollMs: 20, env: allowLoopback }

/** From now on the provider answers when the returned function is called. */
function holdAnswers(provider: TestProvider): () => void {
  const { respond } = provider
  const held: (() => void)[] = []
  provider.respond = (response: ServerResponse, call) => void held.push(() => respond(response, call))
  return () => {
    provider.respond = respond
    for (const answer of held) answer()
  }
}

/** A tenant with a permission provider, and threads of Ada in some documents. */
async function sceneWithProvider(server: TestServer, documentIds: readonly string[]) {
  const tenant = await scene(server)
  const { client, addThread, reply } = tenant
  const documents = documentIds.map((documentId) => ({ documentId }))
  await client.documents.add({ organizationId, documents })
  for (const place of documents) await addThread(annotationId, {}, { organizationId, ...place })
  const provider = await useProvider(tenant)
  const replyIn = (documentId: string) =>
    reply('ada', `in ${documentId}`, { organizationId, documentId, annotationId })
  /** The documents that the provider was asked about, each once, in this order. */
  const askedAbout = () => [...new Set(provider.asked.map(({ resource }) => resource.id))]
  return { ...tenant, provider, replyIn, askedAbout }
}

describe.each(stores)('the jobs of several API keys on %s', (store) => {
  const server = useServer(store, options)

  test('[S9] a job that waits for a permission provider delays the other jobs of its API key, and no job of another key', async () => {
    const slow = await sceneWithProvider(server, ['x', 'y', 'z'])
    const release = holdAnswers(slow.provider)
    for (const documentId of ['x', 'y', 'z']) await slow.replyIn(documentId)
    await expect.poll(slow.askedAbout).toEqual(['x'])
    const other = await scene(server)
    await other.reply('ada', 'not delayed')
    await other.expectBodies('grace', ['not delayed'])
    expect(slow.askedAbout()).toEqual(['x'])
    expect(await slow.bodiesOf('grace')).toEqual([])
    release()
    await expect.poll(async () => (await slow.bodiesOf('grace')).sort()).toEqual(['in x', 'in y', 'in z'])
    expect(slow.askedAbout()).toEqual(['x', 'y', 'z'])
  })

  test('[S9] 2,000 jobs of an API key that are due at the same time delay no job of another key', async () => {
    const [jobs, perCall] = [2000, 100]
    const busy = await scene(server)
    const { client, apiKey, addThread } = busy
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 3600 } },
    })
    for (let call = 0; call < jobs / perCall; call++) {
      await addThread(`t${call}`)
      const comment = { commentText: 'one of many', from: { userId: 'ada' }, triggerNotification: true }
      const commentData = Array.from({ length: perCall }, () => comment)
      await client.comments.add({
        organizationId,
        documentId: 'doc_1',
        annotationId: `t${call}`,
        commentData,
      })
    }
    const waiting = async () => {
      const { count } = await server.database.read
        .selectFrom('jobs')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('api_key', '=', apiKey)
        .executeTakeFirstOrThrow()
      return count
    }
    const other = await scene(server)
    server.clock.offsetMs += 3601 * 1000
    await expect.poll(waiting, { interval: 5 }).toBeLessThan(jobs)
    await other.reply('ada', 'not delayed')
    await other.expectBodies('grace', ['not delayed'])
    expect(await waiting()).toBeGreaterThan(jobs / 2)
  })

  test('[18.7.8] a server that stops starts no further job, and what it interrupted is delivered once after the restart', async () => {
    const stopped = await startServer(store, options)
    const { apiKey, authToken, provider, replyIn, askedAbout } = await sceneWithProvider(stopped, ['x', 'y'])
    const release = holdAnswers(provider)
    await replyIn('x')
    await expect.poll(askedAbout).toEqual(['x'])
    await replyIn('y')
    const next = await stopped.restart()
    expect(stopped.logged.filter((line) => line.includes('job failed'))).toEqual([])
    release()
    const client = next.client({ apiKey, authToken })
    const inboxOf = async (userId: string) =>
      (await client.notifications.get({ organizationId, userId })).data.map((one) => one.displayBodyMessage)
    await expect.poll(async () => (await inboxOf('grace')).sort()).toEqual(['in x', 'in y'])
    expect(await inboxOf('ada')).toEqual([])
    await next.stop()
  })
})
