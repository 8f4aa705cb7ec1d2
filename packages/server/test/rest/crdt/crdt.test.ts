import type { CrdtData } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedLog } from '../../support/data/editors.ts'

const refused = (message: string, status = 'INVALID_ARGUMENT', code = 400) => ({
  status: code,
  body: { error: { status, message } },
})

describe.each(stores)('crdt on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const document = { organizationId: 'o1', documentId: 'd1' }
  const editorRef = { ...document, editorId: 'e1' }
  const text = (data: string, editorId = 'e1') => ({ ...document, editorId, data, type: 'text' as const })

  const call = ({ headers }: given.Tenant, verb: string, data: unknown) =>
    server.post(`/v2/crdt/${verb}`, { data }, headers)
  const stored = async (tenant: given.Tenant, editorId = 'e1') =>
    (await storedLog(server, tenant, { ...document, editorId }))!
  const content = async ({ client }: given.Tenant, editorId = 'e1') =>
    (await client.crdt.get({ ...document, editorId })).data[0]?.data

  const samples: [type: 'text' | 'map' | 'array' | 'xml', first: CrdtData, second: CrdtData][] = [
    ['text', 'Hello 😀', 'Hello\nworld'],
    ['map', { a: 1, b: { c: [null, true] } }, { b: 'x', d: {} }],
    ['array', [1, 'two', { three: [3] }], ['two', 4]],
    ['xml', '<p class="x">Hello &amp; <b>you</b></p>', '<h1>Title</h1><p>Text</p>'],
  ]

  test('[4.8] get returns records with content, id, time, author and session', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('Hello', 'my-note'))
    const { body } = await call(tenant, 'get', { ...document, editorId: 'my-note' })
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'CRDT data retrieved successfully.',
        data: [
          {
            data: 'Hello',
            id: 'my-note',
            lastUpdate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
            lastUpdatedBy: 'rest-api',
            sessionId: null,
          },
        ],
      },
    })
    expect(Math.abs(Date.parse(body.result.data[0].lastUpdate) - Date.now())).toBeLessThan(60_000)
  })

  test.each(samples)('[4.8] get returns %s as it was added and then updated', async (type, first, second) => {
    const tenant = await given.tenant(server)
    expect(await tenant.client.crdt.add({ ...editorRef, type, data: first })).toEqual({
      message: 'CRDT data added successfully.',
      data: null,
    })
    expect(await content(tenant)).toEqual(first)
    expect(await tenant.client.crdt.update({ ...editorRef, type, data: second })).toEqual({
      message: 'CRDT data updated successfully.',
      data: null,
    })
    expect(await content(tenant)).toEqual(second)
  })

  test('[4.8] get without editorId returns every editor of the document, ordered by id', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['b', 'é', 'a', 'Z', '😀']) await tenant.client.crdt.add(text(`in ${id}`, id))
    await tenant.client.crdt.add({ ...text('elsewhere'), documentId: 'd2' })
    const { data } = await tenant.client.crdt.get(document)
    expect(data.map((record) => [record.id, record.data])).toEqual(
      ['Z', 'a', 'b', 'é', '😀'].map((id) => [id, `in ${id}`]),
    )
  })

  test('[4.8] get returns an empty list for a missing document or editor', async () => {
    const { client } = await given.tenant(server)
    const nothing = { message: 'CRDT data retrieved successfully.', data: [] }
    expect(await client.crdt.get(document)).toEqual(nothing)
    await client.crdt.add(text('x'))
    expect(await client.crdt.get({ ...document, editorId: 'e2' })).toEqual(nothing)
    expect(await client.crdt.get({ ...document, documentId: 'd2' })).toEqual(nothing)
  })

  test('[4.8] [0.3] get requires the organization and the document', async () => {
    const tenant = await given.tenant(server)
    const faults: [unknown, string][] = [
      [{ documentId: 'd1' }, 'Organization ID is required'],
      [{}, 'Organization ID is required'],
      [{ organizationId: '', documentId: 'd1' }, 'Organization ID is required'],
      [{ organizationId: 5, documentId: 'd1' }, 'organizationId must be a string.'],
      [{ organizationId: 'o1' }, 'Document ID is required.'],
      [{ organizationId: 'o1', documentId: ' ' }, 'Document ID is required.'],
      [{ ...document, editorId: '' }, 'editorId must not be empty.'],
      [{ ...document, editorId: [] }, 'editorId must be a string.'],
    ]
    for (const [data, message] of faults)
      expect(await call(tenant, 'get', data)).toMatchObject(refused(message))
  })

  test.each(['add', 'update'])('[0.3] %s validates its fields in order, and the data last', async (verb) => {
    const tenant = await given.tenant(server)
    const id = 'must not contain control characters and must not be "." or "..".'
    const faults: [unknown, string][] = [
      [{}, 'Organization ID is required.'],
      [{ organizationId: ' ' }, 'Organization ID is required.'],
      [{ organizationId: 'o1' }, 'Document ID is required.'],
      [document, 'Editor ID is required.'],
      [{ ...document, editorId: '' }, 'Editor ID is required.'],
      [{ ...document, editorId: 'a\nb' }, `editorId ${id}`],
      [{ ...document, editorId: 'x'.repeat(257) }, 'editorId must have at most 256 characters.'],
      [editorRef, 'data is required.'],
      [{ ...editorRef, data: 'x' }, 'type is required.'],
      [{ ...editorRef, data: 'x', type: 'json' }, 'type must be one of: text, map, array, xml.'],
      [{ ...editorRef, data: 1, type: 'text', contentKey: 1 }, 'contentKey must be a string.'],
      [
        { ...editorRef, data: 1, type: 'text', contentKey: 'a\n' },
        'contentKey must not contain control characters.',
      ],
      [{ ...editorRef, data: 1, type: 'text' }, 'Data must be a string for type text.'],
      [{ ...editorRef, data: null, type: 'text' }, 'Data must be a string for type text.'],
      [{ ...editorRef, data: {}, type: 'xml' }, 'Data must be a string for type xml.'],
      [{ ...editorRef, data: [], type: 'map' }, 'Data must be an object for type map.'],
      [{ ...editorRef, data: 'x', type: 'map' }, 'Data must be an object for type map.'],
      [{ ...editorRef, data: {}, type: 'array' }, 'Data must be an array for type array.'],
    ]
    for (const [data, message] of faults)
      expect(await call(tenant, verb, data)).toMatchObject(refused(message))
    expect((await tenant.client.crdt.get(document)).data).toEqual([])
    expect((await tenant.client.organizations.get()).data).toEqual([])
  })

  test('[17.0.1] [0.7.7] add refuses malformed XML, a DOCTYPE, too many levels or keys, and the NUL character', async () => {
    const tenant = await given.tenant(server)
    const xml = (data: string) => call(tenant, 'add', { ...editorRef, type: 'xml', data })
    expect(await xml('<p>open')).toMatchObject(refused(expect.stringMatching(/^XML is not well-formed: /)))
    expect(await xml('<!DOCTYPE p><p/>')).toMatchObject(
      refused('XML is not well-formed: DOCTYPE is not accepted (line 1, column 1).'),
    )
    expect(await xml('<a>'.repeat(200) + '</a>'.repeat(200))).toMatchObject(
      refused('XML must not be nested deeper than 100 levels.'),
    )
    const keys = Object.fromEntries(Array.from({ length: 50_001 }, (_, index) => [`k${index}`, 1]))
    expect(await call(tenant, 'add', { ...editorRef, type: 'map', data: keys })).toMatchObject(
      refused('Data must not have more than 50000 keys.'),
    )
    expect(await call(tenant, 'add', text('a\0b'))).toMatchObject(
      refused('Strings must not contain the NUL character.'),
    )
    expect((await tenant.client.crdt.get(document)).data).toEqual([])
  })

  test('[0.8] [17.1] add creates the organization and the document, and refuses an editor that already has data', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.crdt.add(text('first'))
    expect((await client.organizations.get()).data.map((one) => one.id)).toEqual(['o1'])
    expect(await call(tenant, 'add', text('second'))).toMatchObject(
      refused('CRDT data already exists for this editor ID.', 'ALREADY_EXISTS', 409),
    )
    expect(await content(tenant)).toBe('first')
    await client.organizations.delete({ organizationIds: ['o1'] })
    expect((await client.crdt.get(document)).data).toEqual([])
    await client.crdt.add(text('third'))
    expect(await content(tenant)).toBe('third')
  })

  test.each(samples)(
    '[17] add accepts empty content of type %s, and update fills it',
    async (type, _, data) => {
      const tenant = await given.tenant(server)
      const empty = { text: '', map: {}, array: [], xml: '' }[type]
      await tenant.client.crdt.add({ ...editorRef, type, data: empty })
      expect(await content(tenant)).toEqual(empty)
      await tenant.client.crdt.update({ ...editorRef, type, data })
      expect(await content(tenant)).toEqual(data)
    },
  )

  test('[17.3.2] update refuses an editor that does not exist, and a type or content key that does not match the content', async () => {
    const tenant = await given.tenant(server)
    const missing = refused('No CRDT data found for this editor ID.', 'NOT_FOUND', 404)
    expect(await call(tenant, 'update', text('x'))).toMatchObject(missing)
    expect((await tenant.client.organizations.get()).data).toEqual([])
    await tenant.client.crdt.add({ ...text('Hello'), contentKey: 'default' })
    expect(await call(tenant, 'update', text('x', 'e2'))).toMatchObject(missing)
    expect(await call(tenant, 'update', { ...text('x'), type: 'xml' })).toMatchObject(
      refused('Type does not match the stored data: "default" holds text.'),
    )
    expect(await call(tenant, 'update', { ...text('x'), contentKey: 'content' })).toMatchObject(
      refused(
        'Content key does not match the stored data: "default" is declared and holds text. ' +
          'Empty "default" before you declare another one.',
      ),
    )
    expect(await call(tenant, 'update', { ...editorRef, type: 'text', data: 1 })).toMatchObject(
      refused('Data must be a string for type text.'),
    )
    expect(await content(tenant)).toBe('Hello')
    await tenant.client.crdt.update({ ...text('by name'), contentKey: 'default' })
    expect(await content(tenant)).toBe('by name')
    await tenant.client.crdt.update(text('without'))
    expect(await content(tenant)).toBe('without')
  })

  test('[17] the content is stored under the content key, where front ends read it', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('by default'))
    await tenant.client.crdt.add({
      ...editorRef,
      editorId: 'e2',
      type: 'map',
      data: { a: 1 },
      contentKey: 'my 🔑/1',
    })
    const open = async (editorId: string) => {
      const doc = new Y.Doc()
      for (const { bytes } of (await stored(tenant, editorId)).updates) Y.applyUpdate(doc, bytes)
      return doc
    }
    expect((await open('e1')).getText('content').toJSON()).toBe('by default')
    expect((await open('e2')).getMap('my 🔑/1').toJSON()).toEqual({ a: 1 })
  })

  test('[17.3] update keeps unchanged text, so an editor that writes at the same time converges', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('Hello world'))
    const editor = new Y.Doc()
    for (const { bytes } of (await stored(tenant)).updates) Y.applyUpdate(editor, bytes)
    editor.getText('content').insert(0, 'Oh. ')
    await tenant.client.crdt.update(text('Hello there'))
    for (const { bytes } of (await stored(tenant)).updates) Y.applyUpdate(editor, bytes)
    expect(editor.getText('content').toJSON()).toBe('Oh. Hello there')
  })

  test('[17.3] update with equal content appends nothing to the log but sets the time of the last update', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('same'))
    const [before] = (await tenant.client.crdt.get(editorRef)).data
    server.clock.offsetMs += 60_000
    expect((await tenant.client.crdt.update(text('same'))).message).toBe('CRDT data updated successfully.')
    const [after] = (await tenant.client.crdt.get(editorRef)).data
    expect(after).toEqual({ ...before, lastUpdate: expect.any(String) })
    expect(Date.parse(after!.lastUpdate) - Date.parse(before!.lastUpdate)).toBeGreaterThanOrEqual(60_000)
    expect(await stored(tenant)).toMatchObject({ seq: 1, updates: [{ seq: 1 }] })
  })

  test('[0.2.1] [17] API keys, organizations and documents have separate CRDT data', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    await one.client.crdt.add(text('mine'))
    await one.client.crdt.add({ ...text('in d2'), documentId: 'd2' })
    await one.client.crdt.add({ ...text('in o2'), organizationId: 'o2' })
    expect((await other.client.crdt.get(document)).data).toEqual([])
    expect(await call(other, 'update', text('stolen'))).toMatchObject({ status: 404 })
    await other.client.crdt.add(text('theirs'))
    await one.client.crdt.update(text('still mine'))
    expect(await content(one)).toBe('still mine')
    expect(await content(other)).toBe('theirs')
    expect((await one.client.crdt.get({ ...editorRef, documentId: 'd2' })).data[0]?.data).toBe('in d2')
    expect((await one.client.crdt.get({ ...editorRef, organizationId: 'o2' })).data[0]?.data).toBe('in o2')
  })

  test('[17] v1 has no CRDT operations', async () => {
    const tenant = await given.tenant(server)
    for (const verb of ['add', 'get', 'update']) {
      expect(await server.post(`/v1/crdt/${verb}`, { data: text('x') }, tenant.headers)).toMatchObject({
        status: 404,
      })
    }
  })
})
