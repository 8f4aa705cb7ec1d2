import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type EditorPlace,
  type LocatedRange,
  locateRange,
  type PlacedRange,
  rangeBetween,
} from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { stores, useServer } from '../../support/harness.ts'
import { sceneWithText } from '../../support/data/range-scenes.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/client.md'), 'utf8')
const [, guideCode = ''] = /```js\n(import \{ locateRange[\s\S]*?)```/.exec(guide) ?? []

/** A range without the shared types, which a REST answer does not have. */
const offsetsOf = (range: PlacedRange | undefined) =>
  range && { start: range.start.index, end: range.end.index, text: range.text }

describe.each(stores)('ranges through the client on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await sceneWithText(server)
    const { client } = tenant
    const open = async (userId: string, editorId = 'note') => {
      const document = plenumConnection(client, await tokenFor(tenant, userId)).document('org_1', 'doc_1')
      const { threads } = document
      threads.subscribe(() => {})
      const editor = document.editor(editorId)
      await editor.whenSynced
      await eventually(() => threads.isLoading).toBe(false)
      const comment = async (anchor: EditorPlace, head: EditorPlace) => {
        const targetEditor = rangeBetween(editorId, anchor, head)
        await editor.whenSaved()
        return threads.add({ commentText: 'x', targetEditor })
      }
      const rangeOf = (id: string) => threads.threads.find((one) => one.annotationId === id)?.targetEditor
      const received = async (id: string) => {
        await eventually(() => rangeOf(id)).toBeDefined()
        return rangeOf(id) as LocatedRange
      }
      const { doc } = editor
      return { document, editor, doc, text: doc.getText('content'), comment, received }
    }
    return { ...tenant, open }
  }
  type User = Awaited<ReturnType<Awaited<ReturnType<typeof scene>>['open']>>

  /** Checks that the server and the client of another user find the range at the same place. */
  async function locatedByAll(
    { ranges }: Awaited<ReturnType<typeof scene>>,
    author: User,
    reader: User,
    id: string,
  ) {
    await author.editor.whenSaved()
    const stored = await reader.received(id)
    expect(stored.resolved).toBe(false)
    const [atServer] = await ranges()
    const { start, end, text, orphaned } = atServer as LocatedRange
    const expected = orphaned ? undefined : { start, end, text }
    await eventually(() => offsetsOf(locateRange(reader.doc, stored))).toEqual(expected)
    expect(offsetsOf(locateRange(author.doc, stored))).toEqual(expected)
    return expected
  }

  test('[K17.4] [19.8.1] the server and another client find a range after edits before it, at its edges, inside and over it', async () => {
    const tenant = await scene()
    const [ada, grace] = [await tenant.open('ada'), await tenant.open('grace')]
    const { text } = ada
    const id = await ada.comment({ type: text, index: 10 }, { type: text, index: 15 })
    const after = (edit: () => void) => {
      edit()
      return locatedByAll(tenant, ada, grace, id)
    }
    expect(await after(() => {})).toEqual({ start: 10, end: 15, text: 'brown' })
    expect(await after(() => text.insert(0, 'Look: '))).toEqual({ start: 16, end: 21, text: 'brown' })
    expect(await after(() => text.insert(16, '<'))).toEqual({ start: 17, end: 22, text: 'brown' })
    expect(await after(() => text.insert(22, '>'))).toEqual({ start: 17, end: 22, text: 'brown' })
    expect(await after(() => text.insert(19, '-'))).toEqual({ start: 17, end: 23, text: 'br-own' })
    expect(await after(() => text.delete(15, 3))).toEqual({ start: 15, end: 20, text: 'r-own' })
    expect(await after(() => text.delete(10, 12))).toBeUndefined()
    // The text is written again, as by undo or by paste.
    expect(await after(() => text.insert(0, 'brown '))).toEqual({ start: 0, end: 5, text: 'brown' })
    expect(await after(() => text.insert(0, 'brown '))).toBeUndefined()
  })

  test('[K17.4] a range leaves out what another user types at its edges before the server has stored it, in both directions', async () => {
    for (const isBackward of [false, true]) {
      const tenant = await scene()
      const [ada, grace] = [await tenant.open('ada'), await tenant.open('grace')]
      const first = { type: ada.text, index: 10 }
      const last = { type: ada.text, index: 15 }
      const [anchor, head] = isBackward ? [last, first] : [first, last]
      const targetEditor = rangeBetween('note', anchor, head)
      grace.text.insert(15, 'ish')
      grace.text.insert(10, 'dark')
      await grace.editor.whenSaved()
      await eventually(() => ada.text.toString()).toContain('darkbrownish')
      const id = await ada.document.threads.add({ commentText: 'x', targetEditor })
      expect(await locatedByAll(tenant, ada, grace, id)).toEqual({ start: 14, end: 19, text: 'brown' })
    }
  })

  test('[K17.4] a range over several paragraphs is found with the shared type of each end', async () => {
    const tenant = await scene()
    const page = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'page' }
    const data = '<p>One two</p><p>three</p><p>four five</p>'
    await tenant.client.crdt.add({ ...page, type: 'xml', contentKey: 'default', data })
    const [ada, grace] = [await tenant.open('ada', 'page'), await tenant.open('grace', 'page')]
    const fragment = ada.doc.getXmlFragment('default')
    const textAt = (doc: Y.Doc, paragraph: number) =>
      (doc.getXmlFragment('default').get(paragraph) as Y.XmlElement).get(0) as Y.XmlText
    const id = await ada.comment(
      { type: textAt(ada.doc, 2), index: 4 },
      { type: textAt(ada.doc, 0), index: 4 },
    )
    const found = { start: 4, end: 4, text: 'two\nthree\nfour' }
    expect(await locatedByAll(tenant, ada, grace, id)).toEqual(found)
    const placed = locateRange(grace.doc, await grace.received(id))
    expect([placed?.start.type, placed?.end.type]).toEqual([textAt(grace.doc, 0), textAt(grace.doc, 2)])
    fragment.delete(1, 1)
    expect(await locatedByAll(tenant, ada, grace, id)).toEqual({ ...found, text: 'two\nfour' })
    textAt(ada.doc, 0).delete(4, 3)
    textAt(ada.doc, 1).delete(0, 4)
    // Both paragraphs are left, but not the text.
    expect(await locatedByAll(tenant, ada, grace, id)).toBeUndefined()
    fragment.delete(0, 1)
    expect(await locatedByAll(tenant, ada, grace, id)).toBeUndefined()
  })

  test('[K17.4] the code of the guide comments on a range, and shows where it is after every change', async () => {
    const tenant = await scene()
    const { document, doc, text } = await tenant.open('ada')
    const shown: (PlacedRange | undefined)[][] = []
    const code = `${guideCode.replace(/^import .*\n/, '')}\nreturn comment`
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor
    const names = ['document', 'threads', 'render', 'locateRange', 'rangeBetween']
    const run = new AsyncFunction(...names, code)
    const render = (ranges: (PlacedRange | undefined)[]) => shown.push(ranges)
    const comment = await run(document, document.threads, render, locateRange, rangeBetween)
    await comment(4, 9, 'How quick?')
    const last = () => shown.at(-1)?.map(offsetsOf)
    await eventually(last).toEqual([{ start: 4, end: 9, text: 'quick' }])
    text.insert(0, 'See: ')
    expect(last()).toEqual([{ start: 9, end: 14, text: 'quick' }])
    text.delete(0, 20)
    expect(last()).toEqual([undefined])
    expect(doc).toBe(document.editor('note').doc)
  })
})
