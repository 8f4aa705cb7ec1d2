import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { edits, session } from '../../../test/support/updates/restore-sessions.ts'
import { type AnchoredRange, anchorRanges, type Fault, locateRanges, type SentRange } from './anchors.ts'
import { load } from './load.ts'
import { locate, type PositionJson } from './positions.ts'
import type { SharedType } from './units.ts'

const undeclared = { type: null, contentKey: null }

/** The document as it is stored. */
const stored = (doc: Y.Doc) => load([Y.encodeStateAsUpdate(doc)])

function anchored(doc: Y.Doc, range: SentRange): AnchoredRange {
  const [result] = anchorRanges(stored(doc), undeclared, [range])
  if (!result || 'fault' in result) throw new Error(result?.fault)
  return result
}
const found = (doc: Y.Doc, range: AnchoredRange) => locateRanges(stored(doc), [range])[0]

function docWith(text: string) {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, text)
  return doc
}

/** Positions at both sides of every unit in the document, and at both ends of every type. */
function* everyPosition(doc: Y.Doc): Generator<PositionJson> {
  for (const assoc of [0, -1]) {
    for (const tname of doc.share.keys()) yield { tname, assoc }
    for (const [client, structs] of doc.store.clients) {
      for (const { id, length } of structs) {
        for (let clock = id.clock; clock < id.clock + length; clock++) {
          yield { item: { client, clock }, assoc }
          yield { type: { client, clock }, assoc }
        }
      }
    }
  }
}

const itemOf = ({ _item: item }: SharedType) => item

/** The place that Yjs finds. Undefined: it is in a map, or something around it was deleted. */
function placeInYjs(doc: Y.Doc, position: PositionJson) {
  if (position.item) {
    const { client, clock } = position.item
    const item: unknown = Y.getItem(doc.store, Y.createID(client, clock))
    if (item instanceof Y.Item && item.parentSub !== null) return undefined
  }
  const relative = Y.createRelativePositionFromJSON(position)
  const place = Y.createAbsolutePositionFromRelativePosition(relative, doc)
  if (!place) return undefined
  for (let item = itemOf(place.type); item; item = itemOf(item.parent as SharedType)) {
    if (item.deleted) return undefined
  }
  return { type: place.type, index: place.index }
}

describe('ranges', () => {
  test('[19.8] every position is found where Yjs finds it, in documents of any kind', () => {
    const property = fc.property(edits(40), (all) => {
      const open = session(3)
      open.run(all)
      const doc = load([open.save()])
      const positions = [...everyPosition(doc)]
      const located = locate(doc, positions)
      for (const position of positions) {
        const { type, index } = located.placeOf(position) ?? {}
        const expected = placeInYjs(doc, position)
        expect([position, index]).toEqual([position, expected?.index])
        expect(type === expected?.type).toBe(true)
      }
    })
    fc.assert(property, { numRuns: 60 })
  })

  test('[19.8.1] whichever sides the sent positions are attached to, what is typed at the edges stays outside', () => {
    for (const [a, b] of [
      [0, 0],
      [0, -1],
      [-1, 0],
      [-1, -1],
    ]) {
      const doc = docWith('one two three')
      const text = doc.getText('content')
      const at = (index: number, assoc?: number) =>
        Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, index, assoc)) as PositionJson
      const range = anchored(doc, { anchor: at(4, a), head: at(7, b) })
      text.insert(7, '>')
      text.insert(4, '<')
      expect(found(doc, range)).toMatchObject({ start: 5, end: 8, text: 'two', orphaned: false })
    }
  })

  test('[19.8.5] a quote is found only if it occurs exactly once, also where occurrences overlap', () => {
    const doc = docWith('x aba y')
    const text = doc.getText('content')
    const range = anchored(doc, { anchor: 2, head: 5 })
    text.delete(0, text.length)
    text.insert(0, 'ababa')
    expect(found(doc, range)).toMatchObject({ orphaned: true })
    text.insert(3, '-')
    expect(found(doc, range)).toMatchObject({ orphaned: false, start: 0, end: 3, text: 'aba' })
  })

  test('[19.8.5] a range that was selected backwards is found by its quote with its direction', () => {
    const doc = docWith('one two')
    const range = anchored(doc, { anchor: 7, head: 4 })
    const text = doc.getText('content')
    text.delete(0, 7)
    text.insert(0, 'two one')
    const again = found(doc, range)
    expect(again).toMatchObject({ start: 0, end: 3, anchor: { assoc: -1 }, head: { assoc: 0 } })
    expect(found(doc, { ...range, ...again })).toEqual(again)
  })

  test('[19.8.5] a quote over two paragraphs is found again', () => {
    const doc = new Y.Doc()
    const page = doc.getXmlFragment('default')
    const write = (...texts: string[]) =>
      page.insert(
        0,
        texts.map((words) => {
          const paragraph = new Y.XmlElement('p')
          paragraph.insert(0, [new Y.XmlText(words)])
          return paragraph
        }),
      )
    write('one two', 'three')
    const paragraph = (index: number) => (page.get(index) as Y.XmlElement).get(0) as Y.XmlText
    const at = (index: number, offset: number) =>
      Y.relativePositionToJSON(
        Y.createRelativePositionFromTypeIndex(paragraph(index), offset),
      ) as PositionJson
    const range = anchored(doc, { anchor: at(0, 4), head: at(1, 2) })
    expect(range.quote).toBe('two\nth')
    // Both texts are deleted, but the paragraphs stay.
    paragraph(0).delete(4, 3)
    paragraph(1).delete(0, 2)
    expect(found(doc, range)).toMatchObject({ orphaned: true, start: 4, end: 0 })
    page.delete(0, 2)
    expect(found(doc, range)).toEqual({ anchor: range.anchor, head: range.head, orphaned: true, text: '' })
    write('zero', 'one two', 'three')
    expect(found(doc, range)).toMatchObject({ orphaned: false, start: 4, end: 2, text: 'two\nth' })
  })

  test('[19.8.2] positions in different roots, or in another root than the named one, are refused', () => {
    const doc = docWith('one')
    doc.getText('title').insert(0, 'two')
    const fault = (range: SentRange) => (anchorRanges(stored(doc), undeclared, [range])[0] as Fault).field
    expect(fault({ anchor: { tname: 'title' }, head: 0 })).toBe('head')
    expect(
      fault({ anchor: { tname: 'title', assoc: -1 }, head: { tname: 'title' }, contentKey: 'content' }),
    ).toBe('contentKey')
    expect(anchored(doc, { anchor: 0, head: 3, contentKey: 'title' })).toMatchObject({
      contentKey: 'title',
      quote: 'two',
    })
  })
})
