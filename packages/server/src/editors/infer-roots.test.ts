import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { inferRoots, read } from './content.ts'
import { load, snapshot } from './load.ts'

/** A document as a client makes it and the server loads it: roots without a type. */
function made(make: (doc: Y.Doc) => void): Y.Doc {
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

describe('[17.2] inferRoots', () => {
  it.each(contents)('[17.2] %s: %s', (_what, type, make, data) => {
    const doc = made(make)
    const found = inferRoots(doc)
    expect(found).toEqual({ type, contentKey: 'content' })
    expect(read(doc, found.type!, found.contentKey!)).toEqual(data)
  })

  it('[17.2] looks at what is there, not at what was deleted before it', () => {
    const doc = made((doc) => {
      doc.getText('content').insert(0, 'gone')
      doc.getText('content').delete(0, 4)
      doc.getText('content').insert(0, 'here')
    })
    expect(inferRoots(doc).type).toBe('text')
  })

  it('[17.2] a root that was emptied tells nothing, but one whose entries are gone was a map', () => {
    const list = made((doc) => {
      doc.getArray('content').push([1])
      doc.getArray('content').delete(0, 1)
    })
    expect(inferRoots(list)).toEqual({ type: null, contentKey: 'content' })
    const map = made((doc) => {
      doc.getMap('content').set('a', 1)
      doc.getMap('content').delete('a')
    })
    expect(inferRoots(map)).toEqual({ type: 'map', contentKey: 'content' })
    expect(inferRoots(load([]))).toEqual({ type: null, contentKey: null })
  })

  it('[17.2] of several roots takes content, else default, else the first by name', () => {
    const keyOf = (...names: string[]) =>
      inferRoots(
        made((doc) => {
          for (const name of names) doc.getText(name).insert(0, name)
        }),
      ).contentKey
    expect(keyOf('a', 'default', 'content')).toBe('content')
    expect(keyOf('a', 'default', 'z')).toBe('default')
    expect(keyOf('prosemirror', 'codemirror')).toBe('codemirror')
    expect(keyOf('__proto__')).toBe('__proto__')
  })
})
