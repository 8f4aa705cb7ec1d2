import { closeCodes } from '@plenum/protocol/realtime'
import { ChosenId, NewFolderId } from '@plenum/protocol'
import { editorName } from '@plenum/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { normalized } from '../support/data/filled-tenant.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket } from '../support/clients/hocuspocus-client.ts'
import { closed } from '../support/clients/raw-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import type { Field } from '../support/table/schema-fields.ts'
import { table } from '../support/table/table.ts'

type EditorRef = [organizationId: string, documentId: string, editorId: string]

/**
 * Different editors. Joined with a slash, the ids of the first three are equal. The fourth would equal the first if its
 * name were decoded twice, the fifth if three times. The others have characters with a meaning in addresses and paths.
 */
const editorRefs: EditorRef[] = [
  ['a/b', 'c', 'd'],
  ['a', 'b/c', 'd'],
  ['a', 'b', 'c/d'],
  ['a%2Fb', 'c', 'd'],
  ['a%252Fb', 'c', 'd'],
  ['a b', '../b', './c'],
  ['a+b', '..%2Fb', '..%2F..'],
  ['https://x.y/z?a=b#c', 'https://x.y/z', 'z?a=b#c'],
  ['/', '//', '///'],
  ['100%', '%', '%zz'],
  ['頁/😀', '\\', '"\'|:;,&=@'],
  ['...', '%2e%2e', '%2E'],
]
const contentOf = (editorRef: EditorRef) => JSON.stringify(editorRef)

describe.each(stores)('editors with similar ids on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  /** Checks that REST, y-websocket, Hocuspocus and our client read each editor with its own content. */
  async function expectContents(tenant: given.Tenant) {
    const token = await tokenFor(tenant, 'reader/1')
    const { client } = tenant
    for (const editorRef of editorRefs) {
      const [organizationId, documentId, editorId] = editorRef
      const { data } = await client.crdt.get({ organizationId, documentId, editorId })
      expect([editorRef, data.map((one) => [one.id, one.data])]).toEqual([
        editorRef,
        [[editorId, contentOf(editorRef)]],
      ])
    }
    const socket = hocuspocusSocket(server)
    const connection = client.connect({ token, WebSocket })
    onTestFinished(() => connection.close())
    for (const editorRef of editorRefs) {
      const [organizationId, documentId, editorId] = editorRef
      const name = editorName(...editorRef)
      const yjs = yjsClient(server, token, { name })
      const hocuspocus = hocuspocusClient(server, token, { name, socket })
      const own = connection.document(organizationId, documentId).editor(editorId)
      await synced(yjs, hocuspocus)
      await eventually(() => own.state.status).toBe('connected')
      await eventually(() => [
        editorRef,
        yjs.text.toJSON(),
        hocuspocus.text.toJSON(),
        own.doc.getText('content').toJSON(),
      ]).toEqual([editorRef, contentOf(editorRef), contentOf(editorRef), contentOf(editorRef)])
      yjs.provider.destroy()
    }
  }

  test('[0.6.1] [R10] documents, editors, live states and presence with similar ids stay separate', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const connection = client.connect({
      token: await tokenFor(tenant, 'ada/1'),
      WebSocket,
    })
    onTestFinished(() => connection.close())
    const documents = editorRefs.map((editorRef) => {
      const [organizationId, documentId, editorId] = editorRef
      const document = connection.document(organizationId, documentId)
      const editor = document.editor(editorId)
      return { editorRef, document, editor, state: document.liveState<{ at: string }>(editorId) }
    })
    await eventually(() => documents.every(({ document }) => document.status === 'connected')).toBe(true)
    for (const { editorRef, editor, state } of documents) {
      await state.set({ at: contentOf(editorRef) })
      await eventually(() => editor.state.status).toBe('connected')
      editor.doc.getText('content').insert(0, contentOf(editorRef))
    }
    await eventually(() => documents.every(({ editor }) => editor.state.saved)).toBe(true)
    for (const { editorRef, state, document } of documents) {
      expect(state.value).toEqual({ at: contentOf(editorRef) })
      const [organizationId, documentId, liveStateDataId] = editorRef
      await client.presence.add({ organizationId, documentId, users: [{ userId: contentOf(editorRef) }] })
      await client.liveState.broadcast({
        organizationId,
        documentId,
        liveStateDataId,
        data: { at: `of REST: ${contentOf(editorRef)}` },
      })
      await eventually(() => state.value).toEqual({ at: `of REST: ${contentOf(editorRef)}` })
      await eventually(() => document.presence.users.map(({ userId }) => userId).sort()).toEqual(
        [contentOf(editorRef), 'ada/1'].sort(),
      )
    }
    await expectContents(tenant)
  })

  test('[0.6.1] documents whose ids differ only in the position of a slash share nothing', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const clients = editorRefs.slice(0, 3).map(([organizationId, documentId, editorId]) => {
      const connection = tenant.client.connect({ token: () => token, WebSocket })
      const document = connection.document(organizationId, documentId)
      return { connection, document, name: editorName(organizationId, documentId, editorId) }
    })
    const editors = clients.map(({ name }) => yjsClient(server, token, { name }))
    await synced(...editors)
    for (const [index, { text }] of editors.entries()) text.insert(0, `text ${index}`)
    await Promise.all(clients.map(({ document }, index) => document.liveState('cell').set({ value: index })))
    const readers = clients.map(({ name }) => yjsClient(server, token, { name }))
    await synced(...readers)
    for (const [index, { text }] of readers.entries()) {
      await expect.poll(() => text.toString()).toBe(`text ${index}`)
      expect(clients[index]?.document.liveState('cell').value).toEqual({ value: index })
    }
    await tenant.client.organizations.delete({ organizationIds: ['a/b'] })
    const { data } = await tenant.client.crdt.get({ organizationId: 'a', documentId: 'b/c' })
    expect(data).toMatchObject([{ id: 'd', data: 'text 1' }])
    for (const { connection } of clients) connection.close()
  })

  test('[R9] deleting one of two documents with similar ids leaves the other open', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const [first, second] = [editorRefs[0]!, editorRefs[1]!]
    const clients = [first, second].map((editorRef) =>
      yjsClient(server, token, { name: editorName(...editorRef) }),
    )
    await synced(...clients)
    const ended = closed(clients[0]!.provider.ws as unknown as WebSocket)
    await tenant.client.documents.delete({ organizationId: first[0], documentIds: [first[1]] })
    expect((await ended).code).toBe(closeCodes.gone)
    clients[1]!.text.insert(0, 'still there')
    const [organizationId, documentId] = second
    await eventually(
      async () => (await tenant.client.crdt.get({ organizationId, documentId })).data[0]?.data,
    ).toBe('still there')
  })
})

type Schema = Field['schema']

/** Returns the input with `change` applied to every id that the caller chooses. */
function withIds(schema: Schema, value: unknown, change: (id: string) => string): unknown {
  if (schema.anyOf) return schema.anyOf.reduce((changed, one) => withIds(one, changed, change), value)
  if (typeof value === 'string')
    return patterns.has(schema.pattern) && value !== 'root' ? change(value) : value
  if (Array.isArray(value)) return value.map((item) => withIds(schema.items ?? {}, item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withIds(schema.properties?.[key] ?? {}, item, change)]),
  )
}
const patterns = new Set([ChosenId, NewFolderId].map((schema) => (schema as Schema).pattern))

describe.each(stores)('[0.6] operations with slashes in ids on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[0.6] every v2 operation of an API key answers ids with slashes like ids without', async () => {
    const [plain, slashed] = [await given.tenant(server), await given.tenant(server)]
    const change = (id: string) => `https://x.y/${id}/../?a=b#c`
    const back = (text: string) => text.replaceAll(/https:\/\/x\.y\/(.*?)\/\.\.\/\?a=b#c/g, '$1')
    /** Colors, names, numbers of locations and keys of maps are derived from ids. Positions in the event log differ too. */
    const derived =
      /"(#[0-9a-f]{6}|User [0-9A-F]{4}|[0-9a-f]{32})"|(?<="locationId":)\d+|(?<="after":)"[^"]+"/g
    let successes = 0
    for (const { operation, path, version } of table) {
      if (!['apiKey', 'user'].includes(operation.access) || version === 'v1') continue
      const call = async (tenant: given.Tenant, data: unknown) => {
        const { status, body } = await server.post(path, { data }, tenant.headers)
        return { status, body }
      }
      const input = given.exampleFor(plain, operation)
      const expected = await call(plain, input)
      const answer = await call(slashed, withIds(operation.input, input, change))
      if (answer.status === 200) successes++
      const readable = (text: string) => JSON.parse(back(text).replaceAll(derived, '""')) as unknown
      expect([path, normalized(readable(JSON.stringify(answer)), slashed)]).toEqual([
        path,
        normalized(readable(JSON.stringify(expected)), plain),
      ])
    }
    expect(successes).toBeGreaterThan(40)
  })
})
