import { ApiError } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, startServer, stores, useServer } from '../../support/harness.ts'
import { converged, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const paragraph = (i: number) => `<p>${'lorem ipsum '.repeat(4)}${i}</p>`

describe.each(stores)('concurrent writes of CRDT data on %s', (store) => {
  const server = useServer(store)

  test('[17.3] [S4] other writes continue while an update reorders 500 paragraphs', async () => {
    const tenant = await given.tenant(server)
    const inOrder = Array.from({ length: 500 }, (_, i) => paragraph(i))
    await tenant.client.crdt.add({ ...editorRef, type: 'xml', data: inOrder.join('') })
    const shuffled = inOrder.map((_, i) => paragraph((i * 7_919) % inOrder.length)).join('')
    let isOver = false
    let writes = 0
    const update = tenant.client.crdt
      .update({ ...editorRef, type: 'xml', data: shuffled })
      .finally(() => (isOver = true))
    while (!isOver) {
      await tenant.client.users.add({
        organizationId: 'org_1',
        users: [{ userId: `u${writes++}` }],
      })
    }
    await update
    expect(writes).toBeGreaterThan(2)
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe(shuffled)
  })

  test('[17.3] concurrent writes to one editor all succeed, and one of the written texts remains', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'first' })
    const texts = Array.from({ length: 8 }, (_, i) => `text ${i} `.repeat(1_000))
    await Promise.all(texts.map((data) => tenant.client.crdt.update({ ...editorRef, type: 'text', data })))
    const [record] = (await tenant.client.crdt.get(editorRef)).data
    expect(texts).toContain(record?.data)
  })

  test('[S4.2] of writes to one editor that wait together, those that are refused do not affect the others', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'first', contentKey: 'content' })
    const texts = Array.from({ length: 9 }, (_, i) => `text ${i}`)
    const valid = texts.map((data) => ({ ...editorRef, type: 'text', data }))
    const invalid = [
      { ...editorRef, type: 'array', data: [1] },
      { ...editorRef, type: 'text', data: 'x', contentKey: 'other' },
      { ...editorRef, type: 'xml', data: '<p>' },
    ]
    const inputs = [...valid.slice(0, 4), ...invalid, ...valid.slice(4)]
    const post = (data: object) => server.post('/v2/crdt/update', { data }, tenant.headers)
    const answers = await Promise.all(inputs.map(post))
    expect(answers.map(({ status }) => status)).toEqual(
      inputs.map((input) => (invalid.includes(input as never) ? 400 : 200)),
    )
    const [record] = (await tenant.client.crdt.get(editorRef)).data
    expect(texts).toContain(record?.data)
  })

  test('[S4.2] a text that is emptied and then declared as a map is no fault of the server, also if both wait together', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'first', contentKey: 'content' })
    const post = (data: object) => server.post('/v2/crdt/update', { data }, tenant.headers)
    const answers = await Promise.all([
      ...['one', 'two', ''].map((data) => post({ ...editorRef, type: 'text', data })),
      post({ ...editorRef, type: 'map', data: { a: 1 } }),
    ])
    expect(answers.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers[3]?.status).toBeLessThan(500)
  })

  test('[17.3] changes that a client makes while a REST write is prepared are merged with the write', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'x'.repeat(100_000) })
    const typist = yjsClient(server, await tokenFor(tenant))
    await synced(typist)
    let isOver = false
    const update = tenant.client.crdt
      .update({ ...editorRef, type: 'text', data: 'y'.repeat(100_000) })
      .finally(() => (isOver = true))
    let typed = 0
    while (!isOver) {
      typist.doc.getMap('typed').set(String(typed++), true)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await update
    await expect.poll(() => typist.text.toString()).toBe('y'.repeat(100_000))
    const reader = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(reader)
    await converged(typist.doc, reader.doc)
    expect(reader.doc.getMap('typed').size).toBe(typed)
  })

  test('[17.1] one of two concurrent calls that add the same editor succeeds, and the other is ALREADY_EXISTS', async () => {
    const tenant = await given.tenant(server)
    const adding = ['one', 'two'].map((data) =>
      tenant.client.crdt.add({ ...editorRef, type: 'text', data }).then(
        () => 'added',
        (error: ApiError) => error.status,
      ),
    )
    expect((await Promise.all(adding)).sort()).toEqual(['ALREADY_EXISTS', 'added'])
  })

  test('[17.4.1] a version that is added while its document is deleted does not remain', async () => {
    const tenant = await given.tenant(server)
    for (let round = 0; round < 3; round++) {
      await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'x'.repeat(50_000) })
      const adding = tenant.client.crdtVersions.add({ ...editorRef, name: 'v' }).then(
        () => undefined,
        (error: ApiError) => error,
      )
      await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
      const error = await adding
      if (error) expect(error).toMatchObject({ status: 'NOT_FOUND' })
      expect((await tenant.client.crdtVersions.get(editorRef)).data).toEqual([])
    }
  })
})

describe('many writes of CRDT data', () => {
  const server = useServer(anyStore)

  test('[S4.1] at least 100 of 120 concurrent writes of one API key succeed, and the others get 429 with Retry-After', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'first' })
    const calls = Array.from({ length: 120 }, (_, i) =>
      server.post(
        '/v2/crdt/update',
        { data: { ...editorRef, type: 'text', data: `text ${i}` } },
        tenant.headers,
      ),
    )
    const answers = await Promise.all(calls)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, headers, body } of refused) {
      expect({ status, retryAfter: headers.get('retry-after'), ...body }).toEqual({
        status: 429,
        retryAfter: '1',
        error: {
          status: 'RESOURCE_EXHAUSTED',
          message: 'Too many writes of CRDT data are in progress for this API key.',
        },
      })
    }
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(100)
  })
})

describe('writes of CRDT data through two servers', () => {
  test('[17.3] concurrent writes through two servers succeed or are aborted, and one of the written texts remains', async () => {
    const first = await startServer('postgres')
    const second = await startServer('postgres', { data: first.data })
    const tenant = await given.tenant(first)
    const other = await given.keyOf(second, tenant, tenant.apiKey)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'start' })
    const clients = [tenant.client, other.client]
    const texts = Array.from({ length: 8 }, (_, i) => `text ${i} `.repeat(1_000))
    const updates = texts.map((data, i) => clients[i % 2]!.crdt.update({ ...editorRef, type: 'text', data }))
    const outcomes = await Promise.allSettled(updates)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 'ABORTED' })
    }
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(1)
    expect(texts).toContain((await tenant.client.crdt.get(editorRef)).data[0]?.data)
    await second.stop()
    await first.stop()
  })
})
