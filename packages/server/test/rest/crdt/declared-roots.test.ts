import type { ApiError, Connection, LiveEditorOptions } from '@plenum/client'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedRoot } from '../../support/data/editors.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

/** The root that a front end declares is not always the root that its binding writes to. */
describe.each(stores)('declared roots of editors on %s', (store) => {
  const server = useServer(store)
  const open: Connection[] = []
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close()
  })

  async function openEditor(tenant: given.Tenant, options: LiveEditorOptions, role?: 'viewer') {
    const token = await tokenFor(tenant, role ?? 'ada', role && { role })
    const connection = server.client().connect({ token, WebSocket })
    open.push(connection)
    const editor = connection.document('org_1', 'doc_1').editor('note', options)
    const errors: ApiError[] = []
    editor.on('error', (error) => errors.push(error))
    await editor.whenSynced
    return { editor, doc: editor.doc, errors }
  }

  /** Opens the editor and types into the root that Tiptap uses by default. */
  async function openTiptap(tenant: given.Tenant, options: LiveEditorOptions) {
    const { editor, doc } = await openEditor(tenant, options)
    const fragment = doc.getXmlFragment('default')
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [new Y.XmlText('Hello')])
    fragment.insert(0, [paragraph])
    await editor.whenSaved()
    return { editor, fragment, shown: () => fragment.toString() }
  }

  const content = async ({ client }: given.Tenant) => (await client.crdt.get(editorRef)).data[0]?.data
  const declared = async (tenant: given.Tenant) => {
    const { type, contentKey } = (await storedRoot(server, tenant, editorRef)) ?? {}
    return { type, contentKey }
  }

  const declarations: LiveEditorOptions[] = [
    { type: 'xml' },
    { type: 'xml', contentKey: 'content' },
    { type: 'text', contentKey: 'content' },
    { type: 'text', contentKey: 'default' },
    { contentKey: 'body' },
  ]

  test.each(declarations)(
    '[17.2.1] [17.3.1] REST reads and writes the root of Tiptap when the front end declares %o',
    async (options) => {
      const tenant = await given.tenant(server)
      const { shown } = await openTiptap(tenant, options)
      expect(await content(tenant)).toBe('<paragraph>Hello</paragraph>')
      const data = '<paragraph>Hello</paragraph><paragraph>from the backend</paragraph>'
      await tenant.client.crdt.update({ ...editorRef, type: 'xml', data })
      await eventually(shown).toBe(data)
      expect(await content(tenant)).toBe(data)
      expect(await declared(tenant)).toEqual({ type: 'xml', contentKey: 'default' })
    },
  )

  test('[17.2.1] [17.3.3] REST reads and writes the root of Tiptap in an editor that a backend created empty', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: '' })
    const { shown } = await openTiptap(tenant, {})
    expect(await content(tenant)).toBe('<paragraph>Hello</paragraph>')
    const update = { ...editorRef, contentKey: 'default', type: 'xml' as const }
    await tenant.client.crdt.update({ ...update, data: '<paragraph>Bye</paragraph>' })
    await eventually(shown).toBe('<paragraph>Bye</paragraph>')
  })

  test('[17.2.2] [17.3.1] REST reads the only root with content, whatever its name, and without contentKey writes to the declared root', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: '' })
    const { editor, doc } = await openEditor(tenant, {})
    doc.getText('title').insert(0, 'Title')
    await editor.whenSaved()
    expect(await content(tenant)).toBe('Title')
    await tenant.client.crdt.update({ ...editorRef, type: 'text', data: 'Body' })
    await eventually(() => doc.getText('content').toJSON()).toBe('Body')
    expect(await content(tenant)).toBe('Body')
    expect(doc.getText('title').toJSON()).toBe('Title')
  })

  test('[17.3.2] [17.3.3] a backend can declare another root after emptying the declared one', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'xml', data: '<p>unseen</p>' })
    const { shown } = await openTiptap(tenant, {})
    const update = { ...editorRef, type: 'xml' as const }
    const data = '<paragraph>seen</paragraph>'
    await expect(tenant.client.crdt.update({ ...update, contentKey: 'default', data })).rejects.toMatchObject(
      {
        status: 'INVALID_ARGUMENT',
        message:
          'Content key does not match the stored data: "content" is declared and holds xml, "default" holds xml. ' +
          'Empty "content" before you declare another one.',
      },
    )
    await tenant.client.crdt.update({ ...update, data: '' })
    await tenant.client.crdt.update({ ...update, contentKey: 'default', data })
    await eventually(shown).toBe(data)
    expect(await content(tenant)).toBe(data)
  })

  test('[R4.3] a later declaration of another root takes effect while the declared root is empty', async () => {
    const tenant = await given.tenant(server)
    const first = await openEditor(tenant, { type: 'text', contentKey: 'body' })
    // The text is too large to be decoded on the event loop, so a thread decodes it.
    const words = 'lorem ipsum '.repeat(2_000)
    first.doc.getText('notes').insert(0, words)
    first.doc.getText('title').insert(0, 'Title')
    await first.editor.whenSaved()
    expect(await content(tenant)).toBe('')
    const second = await openEditor(tenant, { contentKey: 'notes' })
    await eventually(() => content(tenant)).toBe(words)
    expect(await declared(tenant)).toEqual({ type: null, contentKey: 'notes' })
    await openEditor(tenant, { type: 'text' })
    await eventually(() => declared(tenant)).toEqual({ type: 'text', contentKey: 'notes' })
    expect([...first.errors, ...second.errors]).toEqual([])
  })

  test('[R4.3] a client that declares a root other than the one with content gets an error and stays connected', async () => {
    const tenant = await given.tenant(server)
    const first = await openEditor(tenant, { type: 'text', contentKey: 'body' })
    first.doc.getText('body').insert(0, 'Hello')
    await first.editor.whenSaved()
    const second = await openEditor(tenant, { type: 'xml', contentKey: 'default' })
    second.doc.getText('body').insert(5, ' world')
    await second.editor.whenSaved()
    await eventually(() => second.errors).toMatchObject([
      {
        status: 'INVALID_ARGUMENT',
        message:
          'Content key does not match the stored data: "body" is declared and holds text. ' +
          'Empty "body" before you declare another one.',
      },
    ])
    const third = await openEditor(tenant, { type: 'map', contentKey: 'body' })
    await eventually(() => third.errors).toMatchObject([
      { message: 'Type does not match the stored data: "body" holds text.' },
    ])
    expect(await content(tenant)).toBe('Hello world')
    expect(await declared(tenant)).toEqual({ type: 'text', contentKey: 'body' })
    expect(first.errors).toEqual([])
  })

  test('[R4.2] a root declared by a viewer has no effect', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await openEditor(tenant, { type: 'map', contentKey: 'forged' }, 'viewer')
    const ada = await openEditor(tenant, {})
    ada.doc.getText('body').insert(0, 'Hello')
    await ada.editor.whenSaved()
    expect(await declared(tenant)).toEqual({ type: null, contentKey: null })
    expect(await content(tenant)).toBe('Hello')
  })

  test('[17.4] [17.6] a version contains the root of Tiptap, and Tiptap shows the version after a restore', async () => {
    const tenant = await given.tenant(server)
    const { fragment, shown } = await openTiptap(tenant, { type: 'text', contentKey: 'content' })
    const { data: version } = await tenant.client.crdtVersions.add({ ...editorRef, name: 'First' })
    expect(version.type).toBe('xml')
    await tenant.client.crdt.update({ ...editorRef, type: 'xml', data: '<paragraph>Changed</paragraph>' })
    await eventually(shown).toBe('<paragraph>Changed</paragraph>')
    const { versionId } = version
    const [read] = (await tenant.client.crdtVersions.get({ ...editorRef, versionId })).data
    expect(read?.data).toBe('<paragraph>Hello</paragraph>')
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId })
    await eventually(shown).toBe('<paragraph>Hello</paragraph>')
    expect(fragment.length).toBe(1)
    expect(await content(tenant)).toBe('<paragraph>Hello</paragraph>')
  })
})
