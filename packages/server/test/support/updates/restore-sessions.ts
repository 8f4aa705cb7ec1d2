import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import * as Y from 'yjs'
import { load, snapshot } from '../../../src/crdt/content/load.ts'
import { restore } from '../../../src/crdt/content/restore.ts'

/** The visible content of a type, with formats, attributes and the kinds of inner types. */
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

/** Joins pieces of equal formats: formats without effect split the text that Yjs returns. */
function pieces(text: Y.Text) {
  const joined: [insert: unknown, attributes: object][] = []
  for (const { insert, attributes = {} } of text.toDelta() as { insert: unknown; attributes?: object }[]) {
    const last = joined.at(-1)
    const isSame = last && isDeepStrictEqual(last[1], attributes)
    if (isSame && typeof last[0] === 'string' && typeof insert === 'string') last[0] += insert
    else joined.push([shown(insert), attributes])
  }
  return joined
}

const shownEntries = (entries: object) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, shown(value)]))

export const roots = {
  text: (doc: Y.Doc) => doc.getText('text'),
  xml: (doc: Y.Doc) => doc.getXmlFragment('xml'),
  map: (doc: Y.Doc) => doc.getMap('map'),
  array: (doc: Y.Doc) => doc.getArray('array'),
}
export const shownBy = (doc: Y.Doc) => Object.values(roots).map((root) => shown(root(doc)))

/** Clients with an open document, and the log of their updates. */
export function session(clients: number) {
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
    /** All clients receive all updates, including the cleanups that these cause. */
    sync() {
      while (received.some((count) => count < log.length)) {
        for (const [index, doc] of docs.entries()) {
          while (received[index]! < log.length) Y.applyUpdate(doc, log[received[index]!++]!, 'log')
        }
      }
    },
    /** Replaces the log with a snapshot, without deleted content. */
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
  /** The path to an inner type, level by level. */
  path: number[]
  action: number
  at: number
  count: number
  words: string
  value: unknown
  /** Whether all clients receive all updates afterwards. */
  sync: boolean
}

// The last three are surrogate pairs that share their first or second half, which a wrong difference would split.
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
export const edits = (maxLength: number) => fc.array(edit, { maxLength, size: 'max' })

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

/** Editors do not split surrogate pairs; Yjs would lose them. */
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
  const created = () => newTypes[at % newTypes.length]!(change)
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
    else if (action < 8) type.set(key, created())
    else type.delete(key)
  } else if (type instanceof Y.Array) {
    const index = at % (type.length + 1)
    if (action < 4)
      type.insert(
        index,
        Array.from({ length: count }, () => value),
      )
    else if (action < 7) type.insert(index, [created()])
    else type.delete(index, Math.min(count, type.length - index))
  }
}

/** A document that one client created and another one changed, with the version in between. */
export function twoStates(create: (doc: Y.Doc) => void, change: (doc: Y.Doc) => void) {
  const open = session(2)
  const [one, other] = open.docs as [Y.Doc, Y.Doc]
  create(one)
  open.sync()
  const version = open.save()
  change(other)
  open.sync()
  return { open, one, other, version }
}

export const paragraph = (words: string) => {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(words)])
  return element
}
export const textOf = (fragment: Y.XmlFragment, index: number) =>
  (fragment.get(index) as Y.XmlElement).get(0) as Y.XmlText
