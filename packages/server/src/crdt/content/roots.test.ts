import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { read } from './content.ts'
import { UnfitContent } from './errors.ts'
import { load, snapshot } from './load.ts'
import { chooseRoot, type Contents, type ContentType, locateRoot } from './roots.ts'

const undeclared: Contents = { type: null, contentKey: null }

/** A document that a client created and the server loaded: its roots have no type. */
function loadedDoc(make: (doc: Y.Doc) => void): Y.Doc {
  const doc = new Y.Doc()
  make(doc)
  return load([snapshot(doc)])
}

const contents: [what: string, type: string, make: (doc: Y.Doc) => void, data: unknown][] = [
  ['plain text', 'text', (doc) => doc.getText('content').insert(0, 'Hello'), 'Hello'],
  [
    'text that begins with a format',
    'text',
    (doc) => doc.getText('content').insert(0, 'a', { b: true }),
    'a',
  ],
  ['an embedded object', 'text', (doc) => doc.getText('content').insertEmbed(0, { image: 'x' }), ''],
  ['map entries', 'map', (doc) => doc.getMap('content').set('a', 1), { a: 1 }],
  ['JSON values', 'array', (doc) => doc.getArray('content').push([1, 'two']), [1, 'two']],
  ['bytes', 'array', (doc) => doc.getArray('content').push([new Uint8Array([1])]), ['AQ==']],
  ['maps in a list', 'array', (doc) => doc.getArray('content').push([new Y.Map([['a', 1]])]), [{ a: 1 }]],
  ['XML elements', 'xml', (doc) => doc.getXmlFragment('content').push([new Y.XmlElement('p')]), '<p></p>'],
  ['XML text', 'xml', (doc) => doc.getXmlFragment('content').push([new Y.XmlText('x')]), 'x'],
]

describe('[17.2] the root that is read without a declaration', () => {
  it.each(contents)('[17.2.3] a root with %s is read as %s', (_what, type, make, data) => {
    const doc = loadedDoc(make)
    const found = locateRoot(doc, undeclared)
    expect(found).toEqual({ type, contentKey: 'content' })
    expect(read(doc, found.type!, found.contentKey!)).toEqual(data)
  })

  it('[17.2.3] a root has the type of its content, though deleted content precedes it', () => {
    const doc = loadedDoc((doc) => {
      doc.getText('content').insert(0, 'gone')
      doc.getText('content').delete(0, 4)
      doc.getText('content').insert(0, 'here')
    })
    expect(locateRoot(doc, undeclared).type).toBe('text')
  })

  it('[17.2.3] a root that was emptied has no type, except for a map', () => {
    const list = loadedDoc((doc) => {
      doc.getArray('content').push([1])
      doc.getArray('content').delete(0, 1)
    })
    expect(locateRoot(list, undeclared)).toEqual({ type: null, contentKey: 'content' })
    const map = loadedDoc((doc) => {
      doc.getMap('content').set('a', 1)
      doc.getMap('content').delete('a')
    })
    expect(locateRoot(map, undeclared)).toEqual({ type: 'map', contentKey: 'content' })
    expect(locateRoot(load([]), undeclared)).toEqual({ type: null, contentKey: null })
  })

  it('[17.2.1] [17.2.2] without a declaration, the default root of a binding is read, otherwise the first root by name', () => {
    const keyOf = (...names: string[]) =>
      locateRoot(
        loadedDoc((doc) => {
          for (const name of names) doc.getText(name).insert(0, name)
        }),
        undeclared,
      ).contentKey
    expect(keyOf('a', 'default', 'content')).toBe('content')
    expect(keyOf('a', 'default', 'z')).toBe('default')
    expect(keyOf('prosemirror', 'codemirror', 'a')).toBe('prosemirror')
    expect(keyOf('b', 'a')).toBe('a')
    expect(keyOf('__proto__')).toBe('__proto__')
  })
})

/** The default root of Tiptap. */
const tiptap = (doc: Y.Doc) => doc.getXmlFragment('default').push([new Y.XmlElement('paragraph')])

describe('[17.2] the root that is read with a declaration', () => {
  const declared: Contents = { type: 'text', contentKey: 'content' }
  const emptied = (doc: Y.Doc) => {
    doc.getText('content').insert(0, 'x', { bold: true })
    doc.getText('content').delete(0, 1)
  }

  it('[17.2] the declared root is read if it was ever written, or if no root was', () => {
    const both = loadedDoc((doc) => [doc.getText('content').insert(0, 'x'), tiptap(doc)])
    expect(locateRoot(both, declared)).toEqual(declared)
    expect(
      locateRoot(
        loadedDoc((doc) => void [emptied(doc), tiptap(doc)]),
        declared,
      ),
    ).toEqual(declared)
    expect(locateRoot(load([]), declared)).toEqual(declared)
  })

  it('[17.2.1] [17.2.2] if the declared root was never written, the default root of a binding or the only root is read', () => {
    expect(locateRoot(loadedDoc(tiptap), declared)).toEqual({ type: 'xml', contentKey: 'default' })
    const several = loadedDoc((doc) => [doc.getMap('a').set('a', 1), tiptap(doc)])
    expect(locateRoot(several, declared)).toEqual({ type: 'xml', contentKey: 'default' })
    expect(locateRoot(several, { type: 'map', contentKey: 'a' })).toEqual({ type: 'map', contentKey: 'a' })
    const ofAnotherName = loadedDoc((doc) => doc.getText('a').insert(0, 'x'))
    expect(locateRoot(ofAnotherName, declared)).toEqual({ type: 'text', contentKey: 'a' })
    const ofTwoNames = loadedDoc((doc) => [doc.getText('a').insert(0, 'x'), doc.getText('b').insert(0, 'x')])
    expect(locateRoot(ofTwoNames, declared)).toEqual(declared)
    expect(locateRoot(ofAnotherName, { type: 'xml', contentKey: null })).toEqual({
      type: 'text',
      contentKey: 'a',
    })
    const array = { type: 'array', contentKey: 'list' } as const
    expect(locateRoot(loadedDoc(tiptap), array)).toEqual({ type: 'xml', contentKey: 'default' })
  })

  const mismatches: [declared: ContentType, make: (doc: Y.Doc) => void, read: ContentType][] = [
    ['text', (doc) => doc.getXmlFragment('r').push([new Y.XmlElement('paragraph')]), 'xml'],
    ['xml', (doc) => doc.getText('r').insert(0, 'x'), 'text'],
    ['map', (doc) => doc.getArray('r').push([1]), 'array'],
    ['array', (doc) => doc.getText('r').insert(0, 'x'), 'text'],
    ['array', (doc) => doc.getMap('r').set('a', 1), 'map'],
    ['array', (doc) => doc.getArray('r').push([new Y.XmlElement('p')]), 'array'],
    ['xml', () => {}, 'xml'],
  ]

  it.each(mismatches)(
    '[17.2.3] a root that is declared as %s is read as another type only if all of its content has that type',
    (type, make, read) => {
      expect(locateRoot(loadedDoc(make), { type, contentKey: 'r' }).type).toBe(read)
    },
  )
})

describe('[17.3.1] the root that a write or a later declaration refers to', () => {
  const declared: Contents = { type: 'xml', contentKey: 'content' }

  it('[17.3.1] [17.3.3] a write refers to the root that is read, or to any named root while the declared one is empty', () => {
    const doc = loadedDoc(tiptap)
    expect(chooseRoot(doc, declared, { type: 'xml' })).toBe('default')
    expect(chooseRoot(doc, declared, { type: 'xml', contentKey: 'default' })).toBe('default')
    expect(chooseRoot(doc, declared, { type: 'text', contentKey: 'content' })).toBe('content')
    expect(chooseRoot(doc, declared, { contentKey: 'notes' })).toBe('notes')
    expect(chooseRoot(load([]), declared, { type: 'map' })).toBe('content')
    expect(chooseRoot(load([]), undeclared, { type: 'map' })).toBe('content')
  })

  it('[17.3.2] a write must refer to the declared root while that has content', () => {
    const doc = loadedDoc((doc) => [doc.getXmlFragment('content').push([new Y.XmlText('x')]), tiptap(doc)])
    expect(() => chooseRoot(doc, declared, { contentKey: 'default' })).toThrow(
      new UnfitContent(
        'Content key does not match the stored data: "content" is declared and holds xml, "default" holds xml. ' +
          'Empty "content" before you declare another one.',
      ),
    )
    expect(() => chooseRoot(loadedDoc(tiptap), undeclared, { contentKey: 'notes' })).toThrow(
      new UnfitContent(
        'Content key does not match the stored data: "default" holds xml. ' +
          'Empty "default" before you declare another one.',
      ),
    )
    const emptied = loadedDoc((doc) => {
      doc.getXmlFragment('content').push([new Y.XmlText('x')])
      doc.getXmlFragment('content').delete(0, 1)
      tiptap(doc)
    })
    expect(chooseRoot(emptied, declared, { contentKey: 'default' })).toBe('default')
  })

  it('[17.3.2] a write must not refer to a root that has content of another type', () => {
    expect(() => chooseRoot(loadedDoc(tiptap), declared, { type: 'text' })).toThrow(
      new UnfitContent('Type does not match the stored data: "default" holds xml.'),
    )
  })
})
