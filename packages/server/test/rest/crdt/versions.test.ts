import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import {
  addVersions,
  appendUpdates,
  storedLog,
  storedVersion,
  type Written,
} from '../../support/data/editors.ts'
import { converged, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const refused = (message: string, status = 'INVALID_ARGUMENT', code = 400) => ({
  status: code,
  body: { error: { status, message } },
})

describe.each(stores)('crdt versions on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const document = { organizationId: 'o1', documentId: 'd1' }
  const editorRef = { ...document, editorId: 'e1' }
  const text = (data: string, editorId = 'e1') => ({ ...document, editorId, data, type: 'text' as const })

  const call = ({ headers }: given.Tenant, verb: string, data: unknown) =>
    server.post(`/v2/crdt/versions/${verb}`, { data }, headers)
  const save = async ({ client }: given.Tenant, name: string, editorId = 'e1') =>
    (await client.crdtVersions.add({ ...document, editorId, name })).data
  const list = async ({ client }: given.Tenant, editorId = 'e1') =>
    (await client.crdtVersions.get({ ...document, editorId })).data
  const content = async ({ client }: given.Tenant, editorId = 'e1') =>
    (await client.crdt.get({ ...document, editorId })).data[0]?.data
  const stored = async (tenant: given.Tenant) => (await storedLog(server, tenant, editorRef))!
  const append = (tenant: given.Tenant, update: Uint8Array, create: Written['create'] = null) =>
    appendUpdates(server, tenant, editorRef, [update], { sessionId: 's1', create })

  test('[17.4] add stores the current content of the editor under a name', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('one'))
    const first = await call(tenant, 'add', { ...editorRef, name: ' First draft ' })
    expect(first.body).toEqual({
      result: {
        status: 'success',
        message: 'Version added successfully.',
        data: {
          versionId: expect.stringMatching(/^ver_[0-9a-z]{20}$/),
          name: 'First draft',
          type: 'text',
          createdAt: expect.any(Number),
        },
      },
    })
    const { createdAt, versionId } = first.body.result.data
    expect(Math.abs(createdAt - Date.now() - server.clock.offsetMs)).toBeLessThan(60_000)
    await tenant.client.crdt.update(text('two'))
    const { data } = await tenant.client.crdtVersions.get({ ...editorRef, versionId })
    expect(data).toEqual([{ ...first.body.result.data, data: 'one' }])
    expect(await content(tenant)).toBe('two')
  })

  test('[17.4] [0.3] add and restore require an editor that exists, and every operation names the faulty field', async () => {
    const tenant = await given.tenant(server)
    const missing = refused('No CRDT data found for this editor ID.', 'NOT_FOUND', 404)
    expect(await call(tenant, 'add', { ...editorRef, name: 'x' })).toMatchObject(missing)
    expect(await call(tenant, 'restore', { ...editorRef, versionId: 'x' })).toMatchObject(missing)
    expect((await tenant.client.organizations.get()).data).toEqual([])
    await tenant.client.crdt.add(text('Hello'))
    const faults: [string, unknown, string][] = [
      ...['add', 'get', 'restore'].flatMap((verb): [string, unknown, string][] => [
        [verb, {}, 'Organization ID is required.'],
        [verb, { organizationId: 'o1' }, 'Document ID is required.'],
        [verb, document, 'Editor ID is required.'],
        [verb, { ...document, editorId: ' ' }, 'Editor ID is required.'],
      ]),
      ['add', editorRef, 'name is required.'],
      ['add', { ...editorRef, name: '' }, 'name must not be blank.'],
      ['add', { ...editorRef, name: ' \n' }, 'name must not be blank.'],
      ['add', { ...editorRef, name: 5 }, 'name must be a string.'],
      ['add', { ...editorRef, name: 'x'.repeat(201) }, 'name must have at most 200 characters.'],
      ['add', { ...editorRef, name: 'x', userId: 5 }, 'userId must be a string.'],
      ['get', { ...editorRef, versionId: 5 }, 'versionId must be a string.'],
      ['get', { ...editorRef, pageSize: 0 }, 'pageSize must be an integer between 1 and 1000.'],
      ['get', { ...editorRef, pageToken: 'x' }, 'Invalid page token.'],
      ['restore', editorRef, 'versionId is required.'],
    ]
    for (const [verb, data, message] of faults) {
      expect(await call(tenant, verb, data), verb).toMatchObject(refused(message))
    }
    expect(await list(tenant)).toEqual([])
    expect(await content(tenant)).toBe('Hello')
  })

  test('[17.4.1] an editor has at most 1,000 versions, also when concurrent calls add them', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('Hello'))
    await tenant.client.crdt.add(text('Hello', 'e2'))
    const { bytes } = (await stored(tenant)).updates[0]!
    const versionIds = Array.from({ length: 998 }, (_, index) => `v${index}`)
    await addVersions(server, tenant, editorRef, versionIds, bytes)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call(tenant, 'add', { ...editorRef, name: 'one more' })),
    )
    const full = 'The editor has reached its maximum number of versions.'
    const succeeded = answers.filter(({ status }) => status === 200)
    expect(succeeded).toHaveLength(2)
    for (const answer of answers) {
      if (answer.status === 200) continue
      expect(answer).toMatchObject(refused(full, 'RESOURCE_EXHAUSTED', 429))
    }
    expect(await list(tenant)).toHaveLength(1000)
    expect((await save(tenant, 'of another editor', 'e2')).name).toBe('of another editor')
  })

  test('[17.4.2] createdBy has the name that the user had when the version was saved, cut to 200 characters', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.crdt.add(text('Hello'))
    const rename = (name: string) =>
      client.users.add({ organizationId: 'o1', users: [{ userId: 'ada', name }] })
    await rename('😀'.repeat(201))
    const { data } = await client.crdtVersions.add({ ...editorRef, name: 'x', userId: 'ada' })
    expect(data.createdBy).toEqual({ userId: 'ada', name: '😀'.repeat(200) })
    await rename('Ada')
    expect(await list(tenant)).toEqual([data])
    expect(await save(tenant, 'of no user')).not.toHaveProperty('createdBy')
  })

  test('[17.5] get returns versions page by page, newest first, without content', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'map', data: { a: 1 } })
    const saved = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      server.clock.offsetMs += 1
      saved.unshift(await save(tenant, name))
    }
    expect((await call(tenant, 'get', editorRef)).body).toEqual({
      result: { status: 'success', message: 'Versions retrieved successfully.', data: saved },
    })
    const pages = []
    let pageToken: string | undefined
    do {
      const answer = await tenant.client.crdtVersions.get({ ...editorRef, pageSize: 2, pageToken })
      pages.push(answer.data)
      pageToken = answer.nextPageToken
    } while (pageToken)
    expect(pages).toEqual([saved.slice(0, 2), saved.slice(2, 4), saved.slice(4)])
    const { nextPageToken } = await tenant.client.crdtVersions.get({ ...editorRef, pageSize: 2 })
    expect(
      await call(tenant, 'get', { ...editorRef, editorId: 'e2', pageToken: nextPageToken }),
    ).toMatchObject(refused('Invalid page token.'))
  })

  test('[17.5] get leaves out, and restore refuses, versions that do not exist', async () => {
    const tenant = await given.tenant(server)
    expect(await list(tenant)).toEqual([])
    await tenant.client.crdt.add(text('Hello'))
    await tenant.client.crdt.add(text('Hello', 'e2'))
    const { versionId } = await save(tenant, 'x')
    const get = async (input: object) =>
      (await tenant.client.crdtVersions.get({ ...editorRef, versionId, ...input })).data
    expect(await get({})).toHaveLength(1)
    expect(await get({ versionId: 'ver_of_nothing' })).toEqual([])
    expect(await get({ editorId: 'e2' })).toEqual([])
    expect(await get({ documentId: 'd2' })).toEqual([])
    for (const other of [{ versionId: 'ver_of_nothing' }, { editorId: 'e2' }]) {
      expect(await call(tenant, 'restore', { ...editorRef, versionId, ...other })).toMatchObject(
        refused('Version not found.', 'NOT_FOUND', 404),
      )
    }
  })

  test.each([
    ['text', 'Hello 😀', 'Hello\nworld'],
    ['map', { a: 1, b: { c: [null, true] } }, { b: 'x', d: {} }],
    ['array', [1, 'two', { three: [3] }], ['two', 4]],
    ['xml', '<p class="x">Hello &amp; <b>you</b></p>', '<h1>Title</h1><p>Text</p>'],
  ] as const)(
    '[17.6] restore brings %s content back, and a second restore brings back the later content',
    async (type, first, second) => {
      const tenant = await given.tenant(server)
      const data = (value: unknown) => value as string
      await tenant.client.crdt.add({ ...editorRef, type, data: data(first) })
      const one = await save(tenant, 'one')
      await tenant.client.crdt.update({ ...editorRef, type, data: data(second) })
      const two = await save(tenant, 'two')
      expect((await call(tenant, 'restore', { ...editorRef, versionId: one.versionId })).body).toEqual({
        result: { status: 'success', message: 'Version restored successfully.', data: null },
      })
      expect(await content(tenant)).toEqual(first)
      await tenant.client.crdtVersions.restore({ ...editorRef, versionId: two.versionId })
      expect(await content(tenant)).toEqual(second)
      await tenant.client.crdtVersions.restore({ ...editorRef, versionId: one.versionId })
      expect(await content(tenant)).toEqual(first)
      expect((await list(tenant)).map(({ type }) => type)).toEqual([type, type])
    },
  )

  test('[17.6] [17.6.1] open editors receive a restore as a normal change, keep equal content and their undo history, and can continue typing', async () => {
    const tenant = await given.tenant(server)
    const note = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
    const data = '<paragraph>plain bold</paragraph>'
    await tenant.client.crdt.add({ ...note, type: 'xml', contentKey: 'prose', data })
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    const fragment = ada.doc.getXmlFragment('prose')
    const paragraph = fragment.get(0) as Y.XmlElement
    const words = paragraph.get(0) as Y.XmlText
    words.format(6, 4, { bold: true })
    await converged(ada.doc, bob.doc)
    const { versionId } = (await tenant.client.crdtVersions.add({ ...note, name: 'with formats' })).data

    const undo = new Y.UndoManager(bob.doc.getXmlFragment('prose'))
    const theirs = (bob.doc.getXmlFragment('prose').get(0) as Y.XmlElement).get(0) as Y.XmlText
    theirs.insert(10, ' more')
    words.delete(0, 6)
    words.format(0, 4, { bold: null, italic: true })
    fragment.insert(1, [new Y.XmlElement('image')])
    ada.doc.getMap('notes').set('a', 1)
    await converged(ada.doc, bob.doc)

    await tenant.client.crdtVersions.restore({ ...note, versionId })
    await expect.poll(() => fragment.length).toBe(1)
    expect(fragment.get(0)).toBe(paragraph)
    await converged(ada.doc, bob.doc)
    for (const text of [words, theirs]) {
      expect(text.toDelta()).toEqual([{ insert: 'plain ' }, { insert: 'bold', attributes: { bold: true } }])
    }
    expect(ada.doc.getMap('notes').size).toBe(0)
    expect(undo.undoStack).toHaveLength(1)
    const [record] = (await tenant.client.crdt.get(note)).data
    expect(record?.data).toBe('<paragraph>plain <bold>bold</bold></paragraph>')

    words.insert(0, 'and goes on ')
    await expect.poll(() => theirs.toString()).toBe('and goes on plain <bold>bold</bold>')
  })

  test('[17.6.1] restoring the current content appends nothing to the log but sets the time of the last update', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('Hello'))
    const { versionId } = await save(tenant, 'x')
    const before = await stored(tenant)
    server.clock.offsetMs += 60_000
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId })
    const after = await stored(tenant)
    expect(after).toEqual({ ...before, lastUpdated: after.lastUpdated })
    expect(after.lastUpdated - before.lastUpdated).toBeGreaterThanOrEqual(60_000)
  })

  test('[17.6] restore appends one update by rest-api, also to content written only by clients', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.documents.add({
      organizationId: 'o1',
      createOrganization: true,
      documents: [{ documentId: 'd1' }],
    })
    const editor = new Y.Doc()
    editor.getArray('default').insert(0, [1, new Y.Map([['a', 1]])])
    await append(tenant, Y.encodeStateAsUpdate(editor), { type: null, contentKey: null })
    const { versionId, type } = await save(tenant, 'of clients')
    expect(type).toBe('array')
    const before = Y.encodeStateVector(editor)
    editor.getArray('default').delete(0, 2)
    await append(tenant, Y.encodeStateAsUpdate(editor, before))
    const { data } = await tenant.client.crdtVersions.get({ ...editorRef, versionId })
    expect(data[0]?.data).toEqual([1, { a: 1 }])
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId })
    expect(await content(tenant)).toEqual([1, { a: 1 }])
    const by = { lastUpdatedBy: 'rest-api', sessionId: null }
    expect(await stored(tenant)).toMatchObject({
      seq: 3,
      complete: true,
      type: null,
      contentKey: null,
      ...by,
    })
  })

  test('[17.6] concurrent updates and restores leave a complete log and a later restore succeeds', async () => {
    const tenant = await given.tenant(server)
    const client = server.client({ ...tenant, retries: 10 })
    await tenant.client.crdt.add(text('version'))
    const { versionId } = await save(tenant, 'x')
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        client.crdt.update(text(`content ${index}`)),
        client.crdtVersions.restore({ ...editorRef, versionId }),
      ]).flat(),
    )
    expect(await stored(tenant)).toMatchObject({ complete: true })
    expect(await content(tenant)).toMatch(/^(version|content \d)$/)
    await client.crdtVersions.restore({ ...editorRef, versionId })
    expect(await content(tenant)).toBe('version')
  })

  test('[17.4.1] versions are deleted with their editor and move with its document', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    for (const id of ['e1', 'e2']) await client.crdt.add(text(`in ${id}`, id))
    const saved = { e1: await save(tenant, 'one'), e2: await save(tenant, 'two', 'e2') }
    await client.crdt.add({ ...text('of the target', 'e2'), documentId: 'd2' })
    const { data } = await client.documents.migrate({ ...document, newDocumentId: 'd2' })
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId: 'o1', migrationId: data.migrationId })).data
        .status
    await expect.poll(status, { timeout: 30_000 }).toBe('completed')
    const moved = { ...editorRef, documentId: 'd2' }
    expect((await client.crdtVersions.get(moved)).data).toEqual([saved.e1])
    expect((await client.crdtVersions.get({ ...moved, editorId: 'e2' })).data).toEqual([])
    expect(await list(tenant)).toEqual([])
    await client.crdt.update({ ...text('changed'), documentId: 'd2' })
    await client.crdtVersions.restore({ ...moved, versionId: saved.e1.versionId })
    expect((await client.crdt.get(moved)).data[0]?.data).toBe('in e1')

    await client.documents.delete({ organizationId: 'o1', documentIds: ['d2'] })
    await client.crdt.add({ ...text('new'), documentId: 'd2' })
    expect((await client.crdtVersions.get(moved)).data).toEqual([])
  })

  test('[0.2.1] [17.4] API keys have separate versions', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    for (const tenant of [one, other]) await tenant.client.crdt.add(text('Hello'))
    const { versionId } = await save(one, 'mine')
    expect(await list(other)).toEqual([])
    expect((await other.client.crdtVersions.get({ ...editorRef, versionId })).data).toEqual([])
    expect(await call(other, 'restore', { ...editorRef, versionId })).toMatchObject({ status: 404 })
  })

  test('[17.5] get and restore of a damaged version fail, and the other versions stay readable', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('Hello'))
    const { versionId } = await save(tenant, 'damaged')
    const other = await save(tenant, 'whole')
    await server.database.write((db) =>
      db
        .updateTable('editor_versions')
        .set({ bytes: new Uint8Array([255, 255, 255, 7, 1, 2, 3]) })
        .where('version_id', '=', versionId)
        .execute(),
    )
    const damaged = {
      status: 500,
      body: {
        error: {
          status: 'INTERNAL',
          message: 'The stored CRDT data cannot be read.',
          details: { unreadableVersionIds: [versionId] },
        },
      },
    }
    expect(await call(tenant, 'get', { ...editorRef, versionId })).toMatchObject(damaged)
    expect(await call(tenant, 'restore', { ...editorRef, versionId })).toMatchObject(damaged)
    expect(await list(tenant)).toHaveLength(2)
    const { data } = await tenant.client.crdtVersions.get({ ...editorRef, versionId: other.versionId })
    expect(data[0]?.data).toBe('Hello')
    expect(await content(tenant)).toBe('Hello')
  })

  test('[17.4] a version does not contain deleted content, and a large document can have versions', async () => {
    const tenant = await given.tenant(server)
    const large = 'é'.repeat(300_000)
    await tenant.client.crdt.add(text(large))
    const { versionId } = await save(tenant, 'large')
    await tenant.client.crdt.update(text('small'))
    const small = await save(tenant, 'small')
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId })
    expect(await content(tenant)).toBe(large)
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId: small.versionId })
    expect(await content(tenant)).toBe('small')
    const { bytes } = (await storedVersion(server, tenant, editorRef, small.versionId))!
    expect(bytes.length).toBeLessThan(200)
  })

  test('[17] v1 has no version operations', async () => {
    const { headers } = await given.tenant(server)
    for (const verb of ['add', 'get', 'restore']) {
      const answer = await server.post(`/v1/crdt/versions/${verb}`, { data: editorRef }, headers)
      expect(answer).toMatchObject({ status: 404 })
    }
  })
})
