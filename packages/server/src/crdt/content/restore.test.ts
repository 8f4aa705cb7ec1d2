import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { processorMs } from '../../../test/support/processor-time.ts'
import { any, update } from '../../../test/support/updates/scenes.ts'
import { load, snapshot } from './load.ts'
import { restore } from './restore.ts'

/** Everything that a type shows, with formats, attributes and the kinds of what is inside. */
function shown(value: unknown): unknown {
  if (value instanceof Y.Text) {
    const kind = value.constructor.name
    return { kind, pieces: pieces(value), attributes: shownEntries(value.getAttributes()) }
  }
  if (value instanceof Y.XmlElement) {
    const children = value.toArray().map(shown)
    return { name: value.nodeName, children, attributes: shownEntries(value.getAttributes()) }
  }
  if (value instanceof Y.XmlFragment || value instanceof Y.Array) {
    return { kind: value.constructor.name, children: value.toArray().map(shown) }
  }
  if (value instanceof Y.Map)
    return { kind: value.constructor.name, entries: shownEntries(Object.fromEntries(value.entries())) }
  if (value instanceof Y.Doc) return { document: value.guid }
  return value
}

/** Formats without effect part the text that Yjs gives; it is joined again here. */
function pieces(text: Y.Text) {
  const joined: [insert: unknown, attributes: object][] = []
  for (const { insert, attributes = {} } of text.toDelta() as { insert: unknown; attributes?: object }[]) {
    const last = joined.at(-1)
    const goesOn = last && isDeepStrictEqual(last[1], attributes)
    if (goesOn && typeof last[0] === 'string' && typeof insert === 'string') last[0] += insert
    else joined.push([shown(insert), attributes])
  }
  return joined
}

const shownEntries = (entries: object) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, shown(value)]))

const roots = {
  text: (doc: Y.Doc) => doc.getText('text'),
  xml: (doc: Y.Doc) => doc.getXmlFragment('xml'),
  map: (doc: Y.Doc) => doc.getMap('map'),
  array: (doc: Y.Doc) => doc.getArray('array'),
}
const shownBy = (doc: Y.Doc) => Object.values(roots).map((root) => shown(root(doc)))

/** Clients with a document open, and the log of what they wrote. */
function session(clients: number) {
  let log: Uint8Array[] = []
  const docs = Array.from({ length: clients }, (_, index) => {
    const doc = new Y.Doc()
    doc.clientID = 100 + index
    doc.on('update', (update: Uint8Array, origin: unknown) => origin === 'log' || log.push(update))
    return doc
  })
  const received = docs.map(() => 0)
  return {
    docs,
    content: () => shownBy(load(log)),
    length: () => log.length,
    save: () => snapshot(load(log)),
    /** Everybody receives everything, also what others clean up when they do. */
    sync() {
      while (received.some((count) => count < log.length)) {
        for (const [index, doc] of docs.entries()) {
          while (received[index]! < log.length) Y.applyUpdate(doc, log[received[index]!++]!, 'log')
        }
      }
    },
    /** From here on the log is a snapshot, without what was deleted. */
    compact() {
      log = [snapshot(load(log))]
      received.fill(0)
    },
    restore(version: Uint8Array) {
      const update = restore(load(log), load([version]))
      if (update) log.push(update)
      return update
    },
    run(edits: readonly Edit[]) {
      for (const edit of edits) {
        apply(docs[edit.client % clients]!, edit)
        if (edit.sync) this.sync()
      }
      this.sync()
    },
  }
}

interface Edit {
  client: number
  root: keyof typeof roots
  /** Which of the types inside, level by level. */
  path: number[]
  action: number
  at: number
  count: number
  words: string
  value: unknown
  /** Everybody receives what the others wrote. */
  sync: boolean
}

// Characters that have one half in common, too.
const words = fc
  .array(fc.constantFrom('a', 'b', '\n', 'é', '\u{1f600}', '\u{1f601}', '\u{1fa00}'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((letters) => letters.join(''))
const edit: fc.Arbitrary<Edit> = fc.record({
  client: fc.nat(2),
  root: fc.constantFrom('text', 'xml', 'map', 'array'),
  path: fc.array(fc.nat(3), { maxLength: 4 }),
  action: fc.nat(9),
  at: fc.nat(30),
  count: fc.integer({ min: 1, max: 4 }),
  words,
  value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.uint8Array({ maxLength: 3 }), fc.constantFrom(1, 2, 'x')),
  sync: fc.boolean(),
})
const edits = (maxLength: number) => fc.array(edit, { maxLength, size: 'max' })

const isShared = (value: unknown): value is Y.AbstractType<unknown> => value instanceof Y.AbstractType

function inside(type: unknown): Y.AbstractType<unknown>[] {
  if (type instanceof Y.Text)
    return (type.toDelta() as { insert: unknown }[]).map((one) => one.insert).filter(isShared)
  if (type instanceof Y.XmlFragment || type instanceof Y.Array) return type.toArray().filter(isShared)
  return type instanceof Y.Map ? [...type.values()].filter(isShared) : []
}

const formats = [{ bold: true }, { bold: null }, { link: { href: 'x' } }, { link: null }, { color: 'red' }]
const newTypes = [
  ({ words }: Edit) => new Y.Text(words),
  ({ value }: Edit) => new Y.Map([['key', value]]),
  ({ value }: Edit) => Y.Array.from([value as string]),
  () => new Y.XmlElement('p'),
  ({ words }: Edit) => new Y.XmlText(words),
  () => new Y.Doc({ guid: 'inner' }),
] as const

/** Editors do not cut characters in half; Yjs would lose them. */
function wholeCharacter(text: Y.Text, index: number) {
  const units = (text.toDelta() as { insert: unknown }[]).map(({ insert }) =>
    typeof insert === 'string' ? insert : '?',
  )
  return /^[\uDC00-\uDFFF]/.test(units.join('').slice(index)) ? index - 1 : index
}

function apply(doc: Y.Doc, change: Edit) {
  let type: Y.AbstractType<unknown> = roots[change.root](doc) as Y.AbstractType<unknown>
  for (const step of change.path) {
    const types = inside(type)
    type = types[step % types.length] ?? type
  }
  const { action, at, count, words, value } = change
  const made = () => newTypes[at % newTypes.length]!(change)
  const key = `k${at % 4}`
  if (type instanceof Y.Text) {
    const index = wholeCharacter(type, at % (type.length + 1))
    const format = formats[at % formats.length]!
    const length = wholeCharacter(type, Math.min(index + count * 2, type.length)) - index
    if (action < 3) type.insert(index, words)
    else if (action < 5) type.insert(index, words, { ...format })
    else if (action < 6) type.delete(index, length)
    else if (action < 8) type.format(index, length, { ...format })
    else if (action < 9) type.insertEmbed(index, at % 2 ? { image: words } : new Y.Map([['a', value]]))
    else if (at % 2) type.setAttribute(key, words)
    else type.removeAttribute(key)
  } else if (type instanceof Y.XmlFragment) {
    const index = at % (type.length + 1)
    if (action < 3) type.insert(index, [new Y.XmlElement(at % 2 ? 'p' : 'h1')])
    else if (action < 6) type.insert(index, [new Y.XmlText(words)])
    else if (action < 8) type.delete(index, Math.min(count, type.length - index))
    else if (!(type instanceof Y.XmlElement)) return
    else if (action < 9) type.setAttribute(key, value)
    else type.removeAttribute(key)
  } else if (type instanceof Y.Map) {
    if (action < 5) type.set(key, value)
    else if (action < 8) type.set(key, made())
    else type.delete(key)
  } else if (type instanceof Y.Array) {
    const index = at % (type.length + 1)
    if (action < 4)
      type.insert(
        index,
        Array.from({ length: count }, () => value),
      )
    else if (action < 7) type.insert(index, [made()])
    else type.delete(index, Math.min(count, type.length - index))
  }
}

describe('[17.6] restoring a version', () => {
  it('[17.6] gives any document the content of any of its states, for everybody and for good', () => {
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
        // What was written again has other ids than in the version.
        open.run(third)
        open.restore(version)
        shows(wanted)
        open.restore(later)
        shows(laterWanted)
        expect(open.restore(later)).toBeNull()
      }),
      { numRuns: 60 },
    )
  })

  /** What one client has made, and what another with the same document made of it. */
  function twoStates(make: (doc: Y.Doc) => void, change: (doc: Y.Doc) => void) {
    const open = session(2)
    const [one, other] = open.docs as [Y.Doc, Y.Doc]
    make(one)
    open.sync()
    const version = open.save()
    change(other)
    open.sync()
    return { open, one, other, version }
  }

  const paragraph = (words: string) => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText(words)])
    return element
  }
  const textOf = (fragment: Y.XmlFragment, index: number) =>
    (fragment.get(index) as Y.XmlElement).get(0) as Y.XmlText

  it('[17.6.1] leaves everything in place that was not changed, and writes only what was', () => {
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

  it('[17.6.1] finds what was written again by its content, also inside', () => {
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

  it('[17.6] [17.6.1] is one more change: what editors can undo stays theirs to undo', () => {
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

  it('[17.6] empties roots that the version does not have, and needs no kinds of roots', () => {
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

  it('[17.6] writes back what no method of Yjs would insert', () => {
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

  it('[17.6] cuts no characters, and restores those of which half was deleted', () => {
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

  it('[17.6] leaves no formats that open editors would have to remove', () => {
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

  it('[17.6] takes documents of any depth and size, in time', () => {
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
    const milliseconds = processorMs(() => {
      open.restore(version)
      expect(open.restore(version)).toBeNull()
    })
    expect(milliseconds).toBeLessThan(10_000)
    open.sync()
    expect(roots.array(one).length).toBe(50_000)
    expect(roots.text(one).toJSON()).toBe('x'.repeat(3000))
  })

  it('[17.6] writes values as one that were written in turns', () => {
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
