import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { appendUpdates, storedLog } from '../../support/data/editors.ts'
import { docOf, type Model, modelOf } from '../../support/random/editor-model.ts'

const editorRef = { organizationId: 'o1', documentId: 'd1', editorId: 'e1' }
const contentKey = 'default'

describe.each(stores)('XML of an editor on %s', (store) => {
  const server = useServer(store)

  const written: Model = [
    {
      name: 'heading',
      attributes: { level: 2, textAlign: null },
      content: [{ characters: 'Title', formats: {} }],
    },
    {
      name: 'paragraph',
      attributes: {},
      content: [
        { characters: 'Intro text ', formats: {} },
        { characters: 'important', formats: { bold: {}, link: { href: 'a', class: null } } },
        { characters: ' middle end.', formats: {} },
      ],
    },
  ]

  /** An editor in which a user has written with Tiptap. */
  async function createEditor() {
    const tenant = await given.tenant(server)
    const doc = docOf(written, contentKey)
    await appendUpdates(server, tenant, editorRef, [Y.encodeStateAsUpdate(doc)], {
      create: { type: null, contentKey: null },
      owners: [[doc.clientID, 'u1']],
    })
    return tenant
  }
  const log = async (tenant: given.Tenant) => (await storedLog(server, tenant, editorRef))!
  const read = async ({ client }: given.Tenant) => (await client.crdt.get(editorRef)).data[0]?.data as string
  const update = ({ client }: given.Tenant, data: string) =>
    client.crdt.update({ ...editorRef, type: 'xml', data })
  /** What an editor shows that has received all updates. */
  const shown = async (tenant: given.Tenant) => {
    const editor = new Y.Doc()
    for (const { bytes } of (await log(tenant)).updates) Y.applyUpdate(editor, bytes)
    return modelOf(editor, contentKey)
  }

  test('[17.3.4] what get returned and update sends unchanged stores no row', async () => {
    const tenant = await createEditor()
    const before = await log(tenant)
    expect(await update(tenant, await read(tenant))).toEqual({
      message: 'CRDT data updated successfully.',
      data: null,
    })
    const { seq, updates } = await log(tenant)
    expect({ seq, updates }).toEqual({ seq: before.seq, updates: before.updates })
  })

  test('[17.3.4] two changed words leave formats and the types of attributes as they are', async () => {
    const tenant = await createEditor()
    const xml = await read(tenant)
    expect(xml).toBe(
      '<heading level="2">Title</heading><paragraph>Intro text <bold><link href="a">important</link></bold> middle end.</paragraph>',
    )
    await update(tenant, xml.replace('Intro', 'Opening').replace('end', 'close').replace('"2"', '"3"'))
    const after = structuredClone(written)
    after[0] = {
      ...(after[0] as { name: string; content: Model }),
      attributes: { level: 3, textAlign: null },
    }
    const [first, , last] = (after[1] as { content: { characters: string }[] }).content
    first!.characters = 'Opening text '
    last!.characters = ' middle close.'
    expect(await shown(tenant)).toEqual(after)
  })

  test('[17.3.5] XML that cannot be stored is refused with the reason, and changes nothing', async () => {
    const tenant = await createEditor()
    const before = await log(tenant)
    await expect(update(tenant, '<paragraph><bold>a<hardBreak/>b</bold></paragraph>')).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message:
        'XML does not fit the document: <bold> is a format, and <hardBreak> in it is an element. Only text can have formats.',
    })
    const { seq, updates } = await log(tenant)
    expect({ seq, updates }).toEqual({ seq: before.seq, updates: before.updates })
  })

  test('[17.3.4] an editor that a backend adds has the formats and types that editors expect', async () => {
    const tenant = await given.tenant(server)
    const data = '<heading level="3">Title</heading><paragraph>Some <bold>words</bold></paragraph>'
    await tenant.client.crdt.add({ ...editorRef, type: 'xml', contentKey, data })
    expect(await read(tenant)).toBe(data)
    expect(await shown(tenant)).toEqual([
      { name: 'heading', attributes: { level: 3 }, content: [{ characters: 'Title', formats: {} }] },
      {
        name: 'paragraph',
        attributes: {},
        content: [
          { characters: 'Some ', formats: {} },
          { characters: 'words', formats: { bold: {} } },
        ],
      },
    ])
  })
})
