import type { EditorRange } from '@plenum/protocol'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { rounds } from '../../support/random/effort.ts'
import { stores, useServer } from '../../support/harness.ts'
import { converged } from '../../support/clients/convergence.ts'
import { saved } from '../../support/clients/hocuspocus-client.ts'
import {
  commentData,
  documentRef,
  editorRef,
  positionIn,
  sceneWithText,
  textIn,
} from '../../support/data/range-scenes.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const quick = { anchor: 4, head: 9 }
const brown = { start: 10, end: 15, text: 'brown', quote: 'brown', orphaned: false, resolved: true }

describe.each(stores)('ranges of annotations on %s', (store) => {
  const server = useServer(store)

  test('[19.8] [19.8.1] a range moves with its text, and what is typed at its edges stays outside', async () => {
    const { add, ranges, open } = await sceneWithText(server)
    await add({ anchor: 10, head: 15 })
    expect(await ranges()).toMatchObject([{ editorId: 'note', contentKey: 'content', ...brown }])
    const { text, doc, ...ada } = await open()
    const after = async (edit: () => void) => {
      edit()
      await saved(ada)
      const [found] = await ranges()
      expect(found && textIn(doc, found)).toBe(found?.text)
      return found
    }
    expect(await after(() => text.insert(0, 'Look: '))).toMatchObject({ ...brown, start: 16, end: 21 })
    expect(await after(() => text.insert(16, '<'))).toMatchObject({ ...brown, start: 17, end: 22 })
    expect(await after(() => text.insert(22, '>'))).toMatchObject({ ...brown, start: 17, end: 22 })
    expect(await after(() => text.insert(19, '-'))).toMatchObject({ text: 'br-own', quote: 'brown' })
    expect(await after(() => text.delete(15, 3))).toMatchObject({ start: 15, end: 20, text: 'r-own' })
    expect(await after(() => text.delete(19, 3))).toMatchObject({ start: 15, end: 19, text: 'r-ow' })
    expect(await after(() => text.format(0, 20, { bold: true }))).toMatchObject({ text: 'r-ow' })
  })

  test('[19.8] a range has the text that its positions have in the documents of two clients who type at the same time', async () => {
    const edit = fc.record({ at: fc.nat(), length: fc.integer({ min: 1, max: 6 }), isDelete: fc.boolean() })
    const turns = fc.array(fc.tuple(fc.array(edit, { maxLength: 4 }), fc.array(edit, { maxLength: 4 })), {
      minLength: 1,
      maxLength: 3,
    })
    const apply = (
      text: Y.Text,
      { at, length, isDelete }: { at: number; length: number; isDelete: boolean },
    ) => {
      const index = at % (text.length + 1)
      if (isDelete) text.delete(index, Math.min(length, text.length - index))
      else text.insert(index, 'abcdef'.slice(0, length))
    }
    const property = fc.asyncProperty(turns, fc.nat(25), fc.nat(25), async (rounds, a, b) => {
      fc.pre(a !== b)
      const { add, ranges, open } = await sceneWithText(server)
      // A quote that never occurs, so that a range whose text is gone is not found again.
      await add({ anchor: a, head: b, quote: 'no such text' })
      const [ada, grace] = [await open('ada'), await open('grace')]
      for (const [ofAda, ofGrace] of rounds) {
        for (const one of ofAda) apply(ada.text, one)
        for (const one of ofGrace) apply(grace.text, one)
        await saved(ada, grace)
        await converged(ada.doc, grace.doc)
        const [range] = await ranges()
        if (!range) throw new Error('The range is missing.')
        const { anchor, head } = a < b ? range : { anchor: range.head, head: range.anchor }
        const expected = textIn(grace.doc, { anchor, head })
        expect(range).toMatchObject({ text: expected, orphaned: expected === '', resolved: true })
        expect(ada.text.toString().slice(range.start, range.end)).toBe(expected)
      }
      for (const { provider, socket } of [ada, grace]) {
        provider.destroy()
        socket.destroy()
      }
    })
    await fc.assert(property, { numRuns: rounds(8) })
  })

  test('[19.8.2] positions are Yjs positions or offsets, in either direction, and an update replaces or removes the range', async () => {
    const { client, add, ranges, open } = await sceneWithText(server)
    const { doc, text } = await open()
    await add({ anchor: positionIn(text, 10), head: positionIn(text, 15) })
    const [forward] = await ranges()
    expect(forward).toMatchObject({ ...brown, anchor: { assoc: 0 }, head: { assoc: -1 } })
    expect(forward && textIn(doc, forward)).toBe('brown')
    const update = (targetEditor: unknown) =>
      client.commentAnnotations.update({
        ...documentRef,
        updatedData: { targetEditor: targetEditor as EditorRange },
      })
    // `JSON.stringify` of the class writes null for what a position does not have.
    const anchor = Y.createRelativePositionFromTypeIndex(text, 15, -1)
    await update({ editorId: 'note', anchor, head: 10, quote: 'the color' })
    expect(await ranges()).toMatchObject([
      { ...brown, quote: 'the color', anchor: { assoc: -1 }, head: { assoc: 0 } },
    ])
    await client.commentAnnotations.update({
      ...documentRef,
      updatedData: { priority: { id: 'P1', name: 'High' } },
    })
    expect(await ranges()).toMatchObject([brown].map(({ quote: _, ...rest }) => rest))
    await update(null)
    expect(await ranges()).toEqual([undefined])
  })

  test('[19.8.2] [0.3] a range that the editor does not have is refused, and nothing is stored', async () => {
    const { client, add, headers } = await sceneWithText(server)
    await client.crdt.add({ ...editorRef, editorId: 'page', type: 'xml', data: '<p>Hello</p>' })
    const item = (client: number, clock: number) => ({ item: { client, clock } })
    const at = 'commentAnnotations[0].targetEditor'
    const unknown = 'is not in the editor. Wait until the editor is saved.'
    const faults: [object, string][] = [
      [{ editorId: 'none', ...quick }, `${at}.editorId: the editor none does not exist.`],
      [{ anchor: 0, head: 27 }, `${at}.head must be at most 26, the length of the text.`],
      [{ anchor: 3, head: 3 }, `${at}.head must not be at the same place as anchor.`],
      [{ anchor: item(7, 0), head: 3 }, `${at}.anchor ${unknown}`],
      [{ anchor: 3, head: item(2 ** 32 - 1, 99) }, `${at}.head ${unknown}`],
      [{ anchor: { tname: 'other' }, head: 3 }, `${at}.anchor ${unknown}`],
      [{ anchor: { type: item(2 ** 32 - 1, 0).item }, head: 3 }, `${at}.anchor ${unknown}`],
      [{ ...quick, contentKey: 'other' }, `${at}.contentKey names a root that the editor does not have.`],
      [{ anchor: {}, head: 3 }, `${at}.anchor must have item, type or tname.`],
      [{ anchor: -1, head: 3 }, `${at}.anchor must be at least 0.`],
      [{ anchor: 0.5, head: 3 }, `${at}.anchor must be an integer or an object.`],
      [{ anchor: 'x', head: 3 }, `${at}.anchor must be an integer or an object.`],
      [{ anchor: item(-1, 0), head: 3 }, `${at}.anchor.item.client must be at least 0.`],
      [{ anchor: item(1, 2 ** 60), head: 3 }, `${at}.anchor.item.clock must be at most 9007199254740991.`],
      [{ anchor: { ...item(1, 1), extra: 1 }, head: 3 }, `${at}.anchor.extra is not a known field.`],
      [{ anchor: 0, head: { tname: 'x'.repeat(257) } }, `${at}.head.tname must have at most 256 characters.`],
      [{ ...quick, quote: 'x'.repeat(1_001) }, `${at}.quote must have at most 1000 characters.`],
      [{ anchor: 0 }, `${at}.head is required.`],
      [
        { editorId: 'page', anchor: 0, head: 1 },
        `${at}.anchor can be an offset only in a text. Send a Yjs relative position.`,
      ],
    ]
    for (const [range, message] of faults) {
      await expect(add(range), message).rejects.toMatchObject({ status: 'INVALID_ARGUMENT', message })
    }
    const commentAnnotations = Array.from({ length: 11 }, (_, i) => ({
      commentData,
      targetEditor: { editorId: `e${i}`, ...quick },
    }))
    const input = { data: { ...documentRef, commentAnnotations } }
    expect(await server.post('/v2/commentannotations/add', input, headers)).toMatchObject({
      status: 400,
      body: { error: { message: 'The annotations of one call can be in at most 10 editors.' } },
    })
    expect((await client.commentAnnotations.get(documentRef)).data).toEqual([])
    expect((await client.events.get({})).data.events).toEqual([])
  })

  test('[19.8.3] in an XML document a range may be in several paragraphs', async () => {
    const { client, add, ranges, open } = await sceneWithText(server)
    await client.crdt.add({
      ...editorRef,
      editorId: 'page',
      type: 'xml',
      contentKey: 'default',
      data: '<p>One two</p><p>Three</p><img/><p>Four</p>',
    })
    const { doc, ...ada } = await open('ada', 'page')
    const page = doc.getXmlFragment('default')
    const paragraph = (index: number) => (page.get(index) as Y.XmlElement).get(0) as Y.XmlText
    const range = (from: [Y.Text, number], to: [Y.Text, number]) => ({
      editorId: 'page',
      anchor: positionIn(...from),
      head: positionIn(...to),
    })
    await add(range([paragraph(0), 4], [paragraph(0), 7]), 'inside')
    await add(range([paragraph(3), 2], [paragraph(0), 4]), 'across')
    await add({ editorId: 'page', anchor: positionIn(page, 2), head: positionIn(page, 3) }, 'image')
    const across = { contentKey: 'default', start: 4, end: 2, text: 'two\nThree\nFo', orphaned: false }
    const inside = { contentKey: 'default', start: 4, end: 7, text: 'two', orphaned: false }
    expect(await ranges()).toMatchObject([{ text: '', quote: '', start: 2, end: 3 }, across, inside])

    paragraph(0).insert(0, '> ')
    page.delete(1, 1)
    await saved(ada)
    expect(await ranges()).toMatchObject([
      { orphaned: false, start: 1, end: 2 },
      { ...across, start: 6, text: 'two\nFo' },
      { ...inside, start: 6, end: 9 },
    ])
    // What was in a deleted paragraph is garbage-collected, so that positions in it have no place.
    page.delete(0, 2)
    await saved(ada)
    const [ofImage, ofTwo, ofOne] = await ranges()
    for (const gone of [ofTwo, ofOne])
      expect(gone).toMatchObject({ orphaned: true, text: '', resolved: true })
    expect(ofOne).toMatchObject({ quote: 'two' })
    expect(ofOne).not.toHaveProperty('start')
    expect(ofImage).toMatchObject({ orphaned: true, start: 0, end: 0 })
    await client.crdt.update({ ...editorRef, editorId: 'page', type: 'xml', data: '<h1>One two</h1>' })
    expect((await ranges())[2]).toMatchObject({ orphaned: false, start: 4, end: 7, text: 'two' })
  })

  test('[19.8.3] the text of a long range is cut, and a value that is not text is one character', async () => {
    const { add, ranges, open } = await sceneWithText(server, `${'x'.repeat(999)}😀${'y'.repeat(9_000)}`)
    await add({ anchor: 0, head: 10_001 })
    const cut = 'x'.repeat(999)
    expect(await ranges()).toMatchObject([{ start: 0, end: 10_001, text: cut, quote: cut }])
    const { text, ...ada } = await open()
    text.delete(2, text.length - 4)
    text.insertEmbed(2, { image: 'a.png' })
    await saved(ada)
    expect(await ranges()).toMatchObject([{ start: 0, end: 5, text: 'xx\uFFFCyy' }])
  })

  test('[19.8.4] [19.8.5] a range whose text was deleted is orphaned, and keeps its quote, until the quote occurs once again', async () => {
    const { client, add, ranges, open } = await sceneWithText(server)
    await add(quick)
    const { text, doc, ...ada } = await open()
    const undo = new Y.UndoManager(text)
    text.delete(0, 12)
    await saved(ada)
    const gone = { orphaned: true, quote: 'quick', text: '', resolved: true }
    expect(await ranges()).toMatchObject([{ ...gone, start: 0, end: 0 }])
    undo.undo()
    await saved(ada)
    const [again] = await ranges()
    expect(again).toMatchObject({ orphaned: false, start: 4, end: 9, text: 'quick' })
    expect(again && textIn(doc, again)).toBe('quick')
    // Cut and paste.
    doc.transact(() => {
      text.delete(4, 6)
      text.insert(text.length, ' quick')
    })
    await saved(ada)
    expect(await ranges()).toMatchObject([{ orphaned: false, start: 21, end: 26, text: 'quick' }])
    text.insert(0, 'quick ')
    await saved(ada)
    expect(await ranges()).toMatchObject([gone])
    await client.crdt.update({ ...editorRef, type: 'text', data: '' })
    expect(await ranges()).toMatchObject([gone])
  })

  test('[19.8.2] [25.6.2] users who may write set ranges, and users who may read get them', async () => {
    const tenant = await sceneWithText(server)
    const { add } = tenant
    const signIn = async (userId: string, role: 'viewer' | 'editor') =>
      server.client({ token: await tokenFor(tenant, userId, { role }) })
    const [writer, viewer] = [await signIn('ada', 'editor'), await signIn('grace', 'viewer')]
    await add(quick, 'a1', writer)
    for (const editorId of ['note', 'none']) {
      await expect(add({ ...quick, editorId }, 'a2', viewer)).rejects.toMatchObject({
        status: 'PERMISSION_DENIED',
        message: 'The user may read this document, but not write in it.',
      })
    }
    const { data } = await viewer.commentAnnotations.get(documentRef)
    expect(data).toMatchObject([{ annotationId: 'a1', targetEditor: { text: 'quick' } }])
  })

  test('[19.8.2] v1 ignores ranges', async () => {
    const { client, add, headers } = await sceneWithText(server)
    await add(quick)
    const sent = { annotationId: 'a2', commentData, targetEditor: 'ignored' }
    const input = { data: { ...documentRef, commentAnnotations: [sent] } }
    expect((await server.post('/v1/commentannotations/add', input, headers)).status).toBe(200)
    const v1 = await server.post('/v1/commentannotations/get', { data: documentRef }, headers)
    expect(v1.body.result.data).toHaveLength(2)
    for (const one of v1.body.result.data) expect(one).not.toHaveProperty('targetEditor')
    expect((await client.commentAnnotations.get(documentRef)).data).toMatchObject([
      { annotationId: 'a2' },
      { annotationId: 'a1', targetEditor: { text: 'quick' } },
    ])
  })
})
