import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { anyStore, stores, useServer } from '../support/harness.ts'
import { eventually } from '../support/clients/convergence.ts'
import { bufferBytes } from '../support/measures/memory.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { allowLoopback, useProvider } from '../support/receivers/permission-provider.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1' }
const maxPerUser = 100

describe.each(stores)('reads in progress on %s', (store) => {
  const server = useServer(store, { env: allowLoopback })

  const userOf = async (tenant: given.Tenant, userId: string) =>
    server.client({ token: await tokenFor(tenant, userId) })

  test('[S5.5] a user has at most 100 reads in progress, and other users of the API key are not refused', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant, 'doc_1')
    const [ada, bob] = [await userOf(tenant, 'ada'), await userOf(tenant, 'bob')]
    const provider = await useProvider(tenant)
    const { respond } = provider
    const held: (() => void)[] = []
    provider.respond = (...call) => void held.push(() => respond(...call))

    const reads = Array.from({ length: maxPerUser + 1 }, () => ada.commentAnnotations.get(place))
    expect(await Promise.race(reads.map((read) => read.catch((error: unknown) => error)))).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      message: 'Too many reads are in progress.',
      retryAfterSeconds: 1,
    })
    await expect.poll(() => held.length).toBe(1)
    const ofBob = bob.commentAnnotations.get(place)
    await expect.poll(() => held.length).toBe(2)
    provider.respond = respond
    for (const answer of held) answer()
    const answers = await Promise.allSettled([...reads, ofBob])
    const read = answers.filter((answer) => answer.status === 'fulfilled')
    expect(read.map(({ value }) => value.data)).toEqual(Array.from({ length: maxPerUser + 1 }, () => []))
    expect((await ada.commentAnnotations.get(place)).data).toEqual([])
  })

  test('[S5.6] a list of one user does not wait for all the lists of another', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant, 'doc_1')
    const comment = { commentText: 'x'.repeat(5_000), from: { userId: 'ada' } }
    await tenant.client.commentAnnotations.add({
      ...place,
      commentAnnotations: Array.from({ length: 50 }, () => ({ commentData: [comment, comment] })),
    })
    const [ada, bob] = [await userOf(tenant, 'ada'), await userOf(tenant, 'bob')]
    const page = { ...place, pageSize: 50 }
    await Promise.all([ada, bob].map((client) => client.commentAnnotations.get(page)))
    let answered = 0
    const flood = Array.from({ length: 80 }, async () => {
      await ada.commentAnnotations.get(page)
      answered++
    })
    expect((await bob.commentAnnotations.get(page)).data).toHaveLength(50)
    expect(answered).toBeLessThan(40)
    await Promise.all(flood)
  })
})

describe('a connection that waits for its next request', () => {
  const server = useServer(anyStore)

  test('[S5.8] does not keep the last answer in memory', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant, 'doc_1')
    const comment = { commentText: 'x'.repeat(9_000), from: { userId: 'ada' } }
    const commentAnnotations = Array.from({ length: 25 }, () => ({
      commentData: [comment, comment, comment, comment],
    }))
    for (let count = 0; count < 2; count++) {
      await tenant.client.commentAnnotations.add({ ...place, commentAnnotations })
    }
    const read = () => tenant.client.commentAnnotations.get({ ...place, pageSize: 50 })
    await read()
    const before = bufferBytes()
    // Each on a connection of its own, with 1.8 MB.
    await Promise.all(Array.from({ length: 20 }, read))
    await eventually(() => bufferBytes() - before).toBeLessThan(8_000_000)
  })
})
