import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { addVersions, appendUpdates } from '../../support/data/editors.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { converged, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { slowDocument } from '../../support/updates/scenes.ts'

const document = { organizationId: 'org_1', documentId: 'doc_1' }
const editorRef = { ...document, editorId: 'large' }

/** About 1 KB each. */
const paragraphs = (word: string, count: number) =>
  Array.from({ length: count }, (_, i) => `<p id="${i}">${`${word} ipsum `.repeat(90)}${i}</p>`).join('')

describe.each(stores)('large documents on %s', (store) => {
  let onThreadWork = async () => {}
  const server = useServer(store, { beforeThreadWork: () => onThreadWork() })

  /** Requests with a body encoded in advance and a response that is not parsed, so the measured time is the server’s. */
  const requests =
    ({ headers }: given.Tenant) =>
    (path: string, data: unknown) => {
      const body = Buffer.from(JSON.stringify({ data }))
      const send = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      return async () => {
        const response = await fetch(`${server.url}/v2/crdt/${path}`, send)
        await response.arrayBuffer()
        expect(response.status).toBe(200)
      }
    }

  // Threads build documents, whatever the database.
  test.runIf(store === anyStore)(
    '[V5] the event loop stays responsive while 100 KB are read, written and restored',
    async () => {
      const tenant = await given.tenant(server)
      const { client } = tenant
      const [one, other] = ['lorem', 'dolor'].map((word) => paragraphs(word, 100)) as [string, string]
      expect(one.length).toBeGreaterThan(100_000)
      await client.crdt.add({ ...editorRef, type: 'xml', data: one })
      const { versionId } = (await client.crdtVersions.add({ ...editorRef, name: 'first' })).data
      const request = requests(tenant)
      const write = request('update', { ...editorRef, type: 'xml', data: other })
      const restore = request('versions/restore', { ...editorRef, versionId })
      for (const work of [
        request('get', editorRef),
        request('versions/get', { ...editorRef, versionId }),
        request('versions/add', { ...editorRef, name: 'again' }),
        write,
        restore,
      ]) {
        // The documents have 300 items, and threads decode them.
        await expectShortIterations(work, { items: 200 })
      }
      expect((await client.crdt.get(editorRef)).data[0]?.data).toBe(one)
    },
  )

  test('[17.3] a long write succeeds while a client types in the same editor', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'xml', data: paragraphs('lorem', 50) })
    const { versionId } = (await tenant.client.crdtVersions.add({ ...editorRef, name: 'v' })).data
    const name = `${editorRef.organizationId}/${editorRef.documentId}/${editorRef.editorId}`
    const typist = yjsClient(server, await tokenFor(tenant), { name })
    await synced(typist)
    const seqs = server.database.read.selectFrom('editors').select('seq').where('api_key', '=', tenant.apiKey)
    const seq = async () => (await seqs.executeTakeFirstOrThrow()).seq
    /** Types while the next write is computed, at most three times: the write then has to be computed again. */
    const type = () => {
      let left = 3
      onThreadWork = async () => {
        if (left-- <= 0) return
        const before = await seq()
        typist.doc.getMap('typed').set('count', ++typed)
        await expect.poll(seq, { interval: 5 }).toBeGreaterThan(before)
      }
    }
    let typed = 0
    onTestFinished(() => void (onThreadWork = async () => {}))
    type()
    await tenant.client.crdt.update({ ...editorRef, type: 'xml', data: paragraphs('dolor', 50) })
    expect(typed).toBeGreaterThan(0)
    const typedBefore = typed
    type()
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId })
    expect(typed).toBeGreaterThan(typedBefore)
    const reader = yjsClient(server, await tokenFor(tenant), { name })
    await synced(reader)
    await converged(typist.doc, reader.doc)
    expect(reader.doc.getMap('typed').get('count')).toBe(typed)
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe(paragraphs('lorem', 50))
  })
})

describe('slow documents', () => {
  // Far below the limits of production, so that the test need not wait for them.
  const server = useServer(anyStore, { threadLimitMs: 1_000 })

  /** An editor that Yjs needs 18 s to decode, and a version of it. */
  async function givenSlowEditor(tenant: given.Tenant, slow: typeof editorRef): Promise<string> {
    const create = { type: 'text', contentKey: 'r' } as const
    const bytes = slowDocument()
    await appendUpdates(server, tenant, slow, [bytes], { create })
    await addVersions(server, tenant, slow, ['ver_slow'], bytes, create.contentKey)
    return 'ver_slow'
  }

  test('[V5] [S1] [17.2.4] only calls on an editor built to be slow fail, while other calls read and write', async () => {
    const tenant = await given.tenant(server)
    const slow = { ...document, editorId: 'slow' }
    const versionId = await givenSlowEditor(tenant, slow)
    const medium = { ...document, editorId: 'medium' }
    const data = 'x'.repeat(20_000)
    await tenant.client.crdt.add({ ...medium, type: 'text', data })
    const token = await tokenFor(tenant)
    const [a, b] = [yjsClient(server, token), yjsClient(server, token)]
    await synced(a, b)

    const failure = async (path: string, data: object) => {
      const { status, body } = await server.post(`/v2/crdt/${path}`, { data }, tenant.headers)
      return { status, ...body.error }
    }
    const tooSlow = (details: object) => ({
      status: 'DEADLINE_EXCEEDED',
      message: 'The CRDT data takes too long to process.',
      details,
    })
    const unreadableEditorIds = ['slow']
    const slowCalls = () =>
      Promise.all([
        failure('get', slow),
        failure('update', { ...slow, type: 'text', data: 'new' }),
        failure('versions/get', { ...slow, versionId }),
        failure('versions/restore', { ...slow, versionId }),
      ])
    await expectShortIterations(async () => {
      let isOver = false
      let rounds = 0
      const failing = slowCalls().finally(() => (isOver = true))
      while (!isOver) {
        expect((await tenant.client.crdt.get(medium)).data[0]?.data).toBe(data)
        a.text.insert(0, 'x')
        await converged(a.doc, b.doc)
        await tenant.client.crdt.update({ ...medium, type: 'text', data })
        if (!isOver) rounds++
      }
      expect(rounds).toBeGreaterThan(0)
      expect(await failing).toEqual([
        tooSlow({ unreadableEditorIds, data: [] }),
        tooSlow({ unreadableEditorIds }),
        tooSlow({ unreadableVersionIds: [versionId] }),
        tooSlow({ unreadableEditorIds }),
      ])
    })
    await converged(a.doc, b.doc)
    await tenant.client.crdt.update({ ...medium, type: 'text', data: 'new' })
  })
})
