import { ApiError, type Client, createClient } from '@plenum/client'
import { expect } from 'vitest'
import type { Store } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { createRandom } from '../support/random/random.ts'
import { createTenant, newSettings } from './kills.ts'

const ref = { organizationId: 'o1', documentId: 'd1' }

/** Creates a tenant with a document. The control server answers before it stores them, so this function waits. */
async function createTenantWithDocument(url: string) {
  const credentials = await createTenant(url)
  const client = createClient({ url, ...credentials })
  const documents = [{ documentId: ref.documentId }]
  await client.documents.add({ organizationId: ref.organizationId, documents, createOrganization: true })
  const found = () => client.documents.get({ organizationId: ref.organizationId }).then(({ data }) => data)
  await expect.poll(found).toHaveLength(1)
  return credentials
}

/** Comments by annotation, in their order. */
type Threads = Map<string, number[]>

/** What is wrong with a log that should have exactly the stored comments, among them all acknowledged ones. */
export function faultsOf(acknowledged: Threads, stored: Threads, logged: Threads): string[] {
  const faults: string[] = []
  for (const [annotationId, ids] of acknowledged) {
    const there = stored.get(annotationId) ?? []
    faults.push(...ids.filter((id) => !there.includes(id)).map((id) => `${annotationId} lost ${id}`))
  }
  for (const annotationId of new Set([...stored.keys(), ...logged.keys()])) {
    const [comments, events] = [stored, logged].map((all) => String(all.get(annotationId) ?? []))
    if (comments !== events) faults.push(`${annotationId} has ${comments}, but its events are ${events}`)
  }
  return faults
}

async function readStored(client: Client, annotationIds: Iterable<string>): Promise<Threads> {
  const found: Threads = new Map()
  for (const annotationId of annotationIds) {
    const { data } = await client.commentAnnotations.get({ ...ref, annotationIds: [annotationId] })
    const [annotation] = data as ({ comments: { commentId: number }[] } | null)[]
    if (annotation)
      found.set(
        annotationId,
        annotation.comments.map(({ commentId }) => commentId),
      )
  }
  return found
}

async function readLogged(client: Client): Promise<Threads> {
  const found: Threads = new Map()
  for (let after: string | undefined, hasMore = true; hasMore;) {
    const { data } = await client.events.get({ limit: 50, ...(after !== undefined && { after }) })
    for (const { annotationId = '', payload } of data.events) {
      const { commentId } = payload.comment as { commentId: number }
      found.set(annotationId, [...(found.get(annotationId) ?? []), commentId])
    }
    ;({ after, hasMore } = data)
  }
  return found
}

/** Kills the server repeatedly while comments are written. Returns what was acknowledged, stored and logged. */
export async function killRepeatedly(program: 'server' | 'earlyAnswers', store: Store, count: number) {
  const env = await newSettings(store)
  const random = createRandom()
  const acknowledged: Threads = new Map()
  let commentId = 1
  let server = await startProcess(program, env)
  const credentials = await createTenantWithDocument(server.url)
  for (let kill = 0; kill < count; kill++) {
    const client = createClient({ url: server.url, ...credentials, retries: 0 })
    let answers = 0
    let isRunning = true
    const write = async (annotationId: string) => {
      const ids = [commentId++, commentId++]
      const from = { userId: 'ada' }
      const commentData = ids.map((id) => ({ commentId: id, commentText: `${id}`, from }))
      if (acknowledged.has(annotationId)) await client.comments.add({ ...ref, annotationId, commentData })
      else
        await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ annotationId, commentData }] })
      acknowledged.set(annotationId, [...(acknowledged.get(annotationId) ?? []), ...ids])
      answers++
    }
    // Two writers share each thread, so that their transactions collide.
    const writers = Array.from({ length: 8 }, async (_, index) => {
      try {
        if (index % 2 === 0) await write(`a${kill}-${index}`)
        while (isRunning) {
          const annotationId = `a${kill}-${index - (index % 2)}`
          if (acknowledged.has(annotationId)) await write(annotationId)
          else await new Promise((later) => setTimeout(later, 1))
        }
      } catch (error) {
        // Without an answer, the error has the network error as its cause. The control also refuses what it acknowledged.
        if (program === 'server' && error instanceof ApiError && error.cause === undefined) throw error
      }
    })
    const enough = 10 + random(60)
    while (answers < enough) await new Promise((later) => setTimeout(later, random.fraction() * 5))
    await server.kill()
    isRunning = false
    await Promise.all(writers)
    server = await startProcess(program, env)
  }
  const client = createClient({ url: server.url, ...credentials })
  const all = Array.from({ length: count }, (_, kill) =>
    [0, 2, 4, 6].map((index) => `a${kill}-${index}`),
  ).flat()
  const stored = await readStored(client, all)
  const size = (threads: Threads) => [...threads.values()].flat().length
  // On PostgreSQL the newest events appear when older transactions have ended, also those of other tests.
  await expect
    .poll(async () => size(await readLogged(client)), { timeout: 20_000 })
    .toBeGreaterThanOrEqual(size(stored))
  const logged = await readLogged(client)
  await server.terminate()
  return { acknowledged, stored, logged, size }
}
