import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { appendUpdates, storedLog, type Written } from '../../support/data/editors.ts'

const document = { organizationId: 'o1', documentId: 'd1' }
const editorRef = { ...document, editorId: 'e1' }

/** REST and clients write to the same log here. The clients do not declare the type of their content, unless a test says so. */
describe.each(stores)('[R4] editors that clients created, on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  const tenant = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, 'o1')
    await tenant.client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'd1' }] })
    return tenant
  }
  /** Stores the changes that `type` makes as the update of a client. Returns the time of the update. */
  const storeTyped = async (
    tenant: given.Tenant,
    type: (doc: Y.Doc) => void,
    create: Written['create'] = { type: null, contentKey: null },
  ) => {
    const doc = new Y.Doc()
    const stored = await storedLog(server, tenant, editorRef)
    for (const { bytes } of stored?.updates ?? []) Y.applyUpdate(doc, bytes)
    const known = Y.encodeStateVector(doc)
    type(doc)
    const update = Y.encodeStateAsUpdate(doc, known)
    const userId = 'user-123'
    const now = Date.now() + server.clock.offsetMs
    const owners = [[doc.clientID, userId] as const]
    await appendUpdates(server, tenant, editorRef, [update], {
      userId,
      sessionId: 's-1',
      create,
      owners,
      now,
    })
    return now
  }
  const get = async ({ client }: given.Tenant) => (await client.crdt.get(editorRef)).data[0]
  const stored = async (tenant: given.Tenant) => {
    const { type, contentKey } = (await storedLog(server, tenant, editorRef))!
    return { type, contentKey }
  }

  test('[R4] get returns newly typed content with its time and author', async () => {
    const one = await tenant()
    const at = await storeTyped(one, (doc) => doc.getText('content').insert(0, 'Hello'))
    expect(await get(one)).toEqual({
      data: 'Hello',
      id: 'e1',
      lastUpdate: new Date(at).toISOString(),
      lastUpdatedBy: 'user-123',
      sessionId: 's-1',
    })
    await one.client.crdt.update({ ...editorRef, type: 'text', data: 'Hello you' })
    expect(await get(one)).toMatchObject({ data: 'Hello you', lastUpdatedBy: 'rest-api', sessionId: null })
    await storeTyped(one, (doc) => doc.getText('content').insert(5, ','))
    expect(await get(one)).toMatchObject({
      data: 'Hello, you',
      lastUpdatedBy: 'user-123',
      sessionId: 's-1',
    })
  })

  test('[17.2.1] [17.2.2] get reads content of any type without a declaration, and declares nothing', async () => {
    const cases: [type: (doc: Y.Doc) => void, data: unknown][] = [
      [(doc) => doc.getXmlFragment('default').push([new Y.XmlElement('p')]), '<p></p>'],
      [(doc) => doc.getMap('settings').set('a', 1), { a: 1 }],
      [(doc) => doc.getArray('list').push([1]), [1]],
      [() => {}, ''],
    ]
    for (const [type, data] of cases) {
      const one = await tenant()
      await storeTyped(one, type)
      expect(await get(one)).toMatchObject({ data })
      expect(await stored(one)).toEqual({ type: null, contentKey: null })
    }
  })

  test('[R4.2] get reads the root that a client declared for its editor', async () => {
    const one = await tenant()
    const create = { type: 'map', contentKey: 'b' } as const
    await storeTyped(one, (doc) => [doc.getMap('a').set('a', 1), doc.getMap('b').set('b', 2)], create)
    expect(await get(one)).toMatchObject({ data: { b: 2 } })
    const two = await tenant()
    await storeTyped(two, (doc) => doc.getText('other').insert(0, 'x'), { type: null, contentKey: 'other' })
    expect(await get(two)).toMatchObject({ data: 'x' })
  })

  test('[17.3.1] [17.3.2] update writes to the root that has content and declares it, and refuses another type or content key', async () => {
    const one = await tenant()
    await storeTyped(one, (doc) => doc.getXmlFragment('default').push([new Y.XmlElement('p')]))
    const update = (fields: object) =>
      server.post('/v2/crdt/update', { data: { ...editorRef, ...fields } }, one.headers)
    expect(await update({ type: 'text', data: 'x' })).toMatchObject({
      status: 400,
      body: { error: { message: 'Type does not match the stored data: "default" holds xml.' } },
    })
    expect(await update({ type: 'xml', data: '<p>x</p>', contentKey: 'content' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('"default" holds xml') } },
    })
    expect(await stored(one)).toEqual({ type: null, contentKey: null })
    expect(await update({ type: 'xml', data: '<p>x</p>' })).toMatchObject({ status: 200 })
    expect(await stored(one)).toEqual({ type: 'xml', contentKey: 'default' })
    expect(await get(one)).toMatchObject({ data: '<p>x</p>' })
    await storeTyped(one, (doc) => doc.getXmlFragment('default').push([new Y.XmlElement('hr')]))
    expect(await get(one)).toMatchObject({ data: '<p>x</p><hr></hr>' })
  })

  test('[17.3.3] an editor without content accepts any type and the content key of the request', async () => {
    const one = await tenant()
    await storeTyped(one, () => {})
    await one.client.crdt.update({ ...editorRef, type: 'array', data: [1], contentKey: 'list' })
    expect(await stored(one)).toEqual({ type: 'array', contentKey: 'list' })
    expect(await get(one)).toMatchObject({ data: [1] })
    const two = await tenant()
    await storeTyped(two, () => {})
    await two.client.crdt.update({ ...editorRef, type: 'map', data: {} })
    expect(await stored(two)).toEqual({ type: 'map', contentKey: 'content' })
    expect(await get(two)).toMatchObject({ data: {} })
  })

  test('[17.1] add refuses an editor that a client created', async () => {
    const one = await tenant()
    await storeTyped(one, (doc) => doc.getText('content').insert(0, 'Hello'))
    await expect(one.client.crdt.add({ ...editorRef, type: 'text', data: 'x' })).rejects.toMatchObject({
      status: 'ALREADY_EXISTS',
    })
  })

  test('[17.3] concurrent writes by REST and by clients lose no data', async () => {
    const one = await tenant()
    const client = server.client({ ...one, retries: 5 })
    await client.crdt.add({ ...editorRef, type: 'map', data: {} })
    const marks = Array.from({ length: 15 }, (_, index) => index)
    await Promise.all([
      ...marks.map((mark) => storeTyped(one, (doc) => doc.getMap('other').set(`m${mark}`, mark))),
      ...marks.map((mark) => client.crdt.update({ ...editorRef, type: 'map', data: { mark } })),
    ])
    const log = (await storedLog(server, one, editorRef))!
    expect(log.complete).toBe(true)
    const doc = new Y.Doc()
    for (const { bytes } of log.updates) Y.applyUpdate(doc, bytes)
    expect(Object.values(doc.getMap('other').toJSON()).sort((a, b) => a - b)).toEqual(marks)
    expect(doc.store.pendingStructs).toBeNull()
    expect(doc.getMap('content').toJSON()).toEqual((await get(one))?.data)
  })
})
