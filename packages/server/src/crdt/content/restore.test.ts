import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import {
  edits,
  paragraph,
  roots,
  session,
  shownBy,
  textOf,
  twoStates,
} from '../../../test/support/updates/restore-sessions.ts'
import { any, update } from '../../../test/support/updates/scenes.ts'
import { load } from './load.ts'
import { restore } from './restore.ts'

describe('[17.6] restoring a version', () => {
  it('[17.6] any document can be restored to any of its states, for all clients; a second restore changes nothing', () => {
    fc.assert(
      fc.property(edits(30), edits(30), edits(10), fc.boolean(), (first, second, third, isCompacted) => {
        const open = session(3)
        open.run(first)
        const [version, wanted] = [open.save(), open.content()]
        open.run(second)
        const [later, laterWanted] = [open.save(), open.content()]
        if (isCompacted) open.compact()
        const shows = (content: unknown) => {
          expect(open.content()).toEqual(content)
          open.sync()
          for (const doc of open.docs) expect(shownBy(doc)).toEqual(content)
        }

        open.restore(version)
        shows(wanted)
        expect(open.restore(version)).toBeNull()
        // Items that were written again have other ids than in the version.
        open.run(third)
        open.restore(version)
        shows(wanted)
        open.restore(later)
        shows(laterWanted)
        expect(open.restore(later)).toBeNull()
      }),
      { numRuns: 30 },
    )
  })

  it('[17.6.1] a restore keeps unchanged items and cursors in place, and writes only changed items', () => {
    const { open, one, version } = twoStates(
      (doc) => {
        const paragraphs = Array.from({ length: 1000 }, (_, i) => paragraph(`Paragraph ${i} has some words.`))
        roots.xml(doc).insert(0, paragraphs)
      },
      (doc) => {
        const fragment = roots.xml(doc)
        textOf(fragment, 0).insert(3, 'xyz')
        textOf(fragment, 999).format(0, 9, { bold: true })
        fragment.delete(500)
        fragment.insert(300, [paragraph('new')])
      },
    )
    const before = roots.xml(one).toArray()
    const cursors = [0, 299, 301, 999].map((index) =>
      Y.createRelativePositionFromTypeIndex(textOf(roots.xml(one), index), 8),
    )
    const update = open.restore(version)!
    expect(update.length).toBeLessThan(200)
    open.sync()
    const after = roots.xml(one).toArray()
    expect(after.filter((paragraph) => !before.includes(paragraph))).toHaveLength(1)
    expect(after).toHaveLength(1000)
    const places = cursors.map((cursor) => Y.createAbsolutePositionFromRelativePosition(cursor, one)!)
    expect(places.map(({ type, index }) => [after.indexOf(type.parent as Y.XmlElement), index])).toEqual([
      [0, 5],
      [299, 8],
      [300, 8],
      [999, 8],
    ])
  })

  it('[17.6.1] a second restore keeps the items that the first one wrote again', () => {
    const { open, one, version } = twoStates(
      (doc) => roots.xml(doc).insert(0, ['one', 'two', 'three'].map(paragraph)),
      (doc) => roots.xml(doc).delete(0, 3),
    )
    open.restore(version)
    open.sync()
    const fragment = roots.xml(one)
    const restored = fragment.toArray()
    textOf(fragment, 1).insert(3, '!')
    open.sync()
    const update = open.restore(version)!
    expect(update.length).toBeLessThan(20)
    open.sync()
    expect(fragment.toArray()).toEqual(restored)
    expect(fragment.toArray().every((child, index) => child === restored[index])).toBe(true)
  })

  it('[17.6] [17.6.1] after a restore, editors can still undo their own changes', () => {
    const open = session(2)
    const [one, other] = open.docs as [Y.Doc, Y.Doc]
    const undo = new Y.UndoManager(roots.text(one), { captureTimeout: 0 })
    roots.text(one).insert(0, 'mine ')
    open.sync()
    const version = open.save()
    roots.text(one).insert(5, 'and mine ')
    open.sync()
    roots.text(other).insert(0, 'theirs ')
    open.sync()
    const stack = [...undo.undoStack]
    open.restore(version)
    open.sync()
    expect(undo.undoStack).toEqual(stack)
    expect(roots.text(one).toJSON()).toBe('mine ')
    undo.undo()
    undo.undo()
    open.sync()
    expect(open.docs.map((doc) => roots.text(doc).toJSON())).toEqual(['', ''])
  })

  it('[17.6] a restore empties roots of any kind that the version does not have', () => {
    const { open, one, version } = twoStates(
      (doc) => doc.getText('kept').insert(0, 'text', { bold: true }),
      (doc) => {
        doc.getText('new text').insert(0, 'x')
        doc.getMap('new map').set('a', new Y.Map([['b', 1]]))
        doc.getArray('new array').insert(0, [1, 'x', new Y.Array()])
        doc.getXmlFragment('new xml').insert(0, [paragraph('x')])
        doc.getText('kept').delete(1, 2)
      },
    )
    open.restore(version)
    open.sync()
    expect(one.getText('kept').toDelta()).toEqual([{ insert: 'text', attributes: { bold: true } }])
    expect(one.getText('new text').toDelta()).toEqual([])
    expect(one.getMap('new map').size).toBe(0)
    expect(one.getArray('new array').toArray()).toEqual([])
    expect(one.getXmlFragment('new xml').toJSON()).toBe('')
  })

  it('[17.6] a restore writes values of every kind: undefined, NaN, bigints, bytes, hooks and embedded types', () => {
    const values = [
      undefined,
      null,
      -0,
      NaN,
      2n ** 60n,
      new Uint8Array([1, 2]),
      [{ constructor: 1 }],
      { a: [] },
    ]
    const { open, one, version } = twoStates(
      (doc) => {
        for (const [index, value] of values.entries()) roots.map(doc).set(`${index}`, value)
        const hook = new Y.XmlHook('hook')
        roots.xml(doc).insert(0, [hook as unknown as Y.XmlElement])
        hook.set('inner', new Y.Text('x'))
        const text = roots.text(doc)
        text.insertEmbed(0, { image: { constructor: 'x' } })
        text.insertEmbed(1, new Y.XmlElement('mention'))
        doc.transact((transaction) => {
          const array = roots.array(doc)
          const content = new Y.ContentAny(values)
          new Y.Item(
            Y.createID(100, Y.getState(doc.store, 100)),
            null,
            null,
            null,
            null,
            array,
            null,
            content,
          ).integrate(transaction, 0)
        })
      },
      (doc) => {
        roots.map(doc).clear()
        roots.xml(doc).delete(0, 1)
        roots.text(doc).delete(0, 2)
        roots.array(doc).delete(1, 6)
      },
    )
    const wanted = shownBy(load([version]))
    open.restore(version)
    open.sync()
    expect(shownBy(one)).toEqual(wanted)
    expect([...roots.map(one).values()]).toEqual(values)
    expect(roots.array(one).toArray()).toEqual(values)
  })

  it('[17.6] a restore splits no surrogate pair, and writes a pair again if half of it was deleted', () => {
    const replaced = twoStates(
      (doc) => roots.text(doc).insert(0, '\u{1f600}'),
      (doc) => {
        roots.text(doc).delete(0, 2)
        roots.text(doc).insert(0, '\u{1f601}\u{1fa00}')
      },
    )
    replaced.open.restore(replaced.version)
    replaced.open.sync()
    expect(roots.text(replaced.one).toJSON()).toBe('\u{1f600}')
    for (const index of [5, 6]) {
      const { open, one, version } = twoStates(
        (doc) => roots.text(doc).insert(0, 'hello😀world'),
        (doc) => roots.text(doc).delete(index, 1),
      )
      open.restore(version)
      open.sync()
      expect([open.content(), shownBy(one)]).toEqual([shownBy(load([version])), shownBy(load([version]))])
    }
  })

  it('[17.6] a restore leaves no redundant formats that open editors would remove', () => {
    const { open, version } = twoStates(
      (doc) => {
        roots.text(doc).insert(0, 'plain bold plain')
        roots.text(doc).format(6, 4, { bold: true })
      },
      (doc) => {
        roots.text(doc).format(0, 16, { bold: null, link: { href: 'x' } })
        roots.text(doc).delete(2, 6)
        roots.text(doc).insert(5, 'red', { color: 'red' })
      },
    )
    open.restore(version)
    const count = open.length()
    open.sync()
    expect(open.length()).toBe(count)
    expect(roots.text(open.docs[0]!).toDelta()).toEqual([
      { insert: 'plain ' },
      { insert: 'bold', attributes: { bold: true } },
      { insert: ' plain' },
    ])
  })

  it('[17.6] two restores of a deep and large document take less than 10 s', () => {
    const { open, one, version } = twoStates(
      (doc) =>
        doc.transact(() => {
          let parent: Y.XmlFragment = roots.xml(doc)
          for (let depth = 0; depth < 1000; depth++) {
            const child = new Y.XmlElement('a')
            parent.insert(0, [child])
            parent = child
          }
          roots.array(doc).insert(
            0,
            Array.from({ length: 50_000 }, (_, index) => index),
          )
          roots.map(doc).set('large', new Y.Text('é'.repeat(500_000)))
          const pieces = Array.from({ length: 3000 }, (_, index) => ({
            insert: 'x',
            attributes: { [`f${index}`]: true },
          }))
          roots.text(doc).applyDelta(pieces)
        }),
      (doc) => {
        roots.xml(doc).delete(0, 1)
        roots.array(doc).delete(1, 49_998)
        roots.text(doc).delete(1, 2998)
        ;(roots.map(doc).get('large') as Y.Text).delete(400_000, 10)
      },
    )
    expectToEnd(() => {
      open.restore(version)
      expect(open.restore(version)).toBeNull()
    })
    open.sync()
    expect(roots.array(one).length).toBe(50_000)
    expect(roots.text(one).toJSON()).toBe('x'.repeat(3000))
  })

  it('[17.6] a restore writes deleted values of alternating clients as one item', () => {
    const count = 40_000
    const valuesOf = (client: number) =>
      Array.from({ length: count / 2 }, (_, turn) => {
        const before = 2 * turn + client - 6
        const origin = [5 + (before % 2), Math.floor(before / 2)] as const
        return { ...(before >= 0 ? { origin } : { parent: 'array' }), content: any(before + 1) }
      })
    const version = update({
      structs: [6, 5].map((client) => ({ client, clock: 0, structs: valuesOf(client) })),
    })
    const doc = load([version])
    roots.array(doc).delete(100, count - 200)
    const written = restore(doc, load([version]))!
    expect(roots.array(doc).toArray()).toEqual(Array.from({ length: count }, (_, index) => index))
    expect(Y.decodeUpdate(written).structs).toHaveLength(1)
  })
})
