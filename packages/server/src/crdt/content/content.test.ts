import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { read, replace, contentError } from './content.ts'
import type { ContentType } from './roots.ts'
import { load, serverClientId, snapshot } from './load.ts'
import { wellFormed } from './values.ts'

const key = 'content'
const parse = (json: string): unknown => JSON.parse(json)
const nested = (depth: number) => parse('['.repeat(depth) + ']'.repeat(depth))
const repeat = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const keys = (count: number) => Object.fromEntries(repeat(count, (i) => [`k${i}`, i]))

/** Writes and reads as the server does, each time with a document loaded from the stored updates. */
function write(type: ContentType, ...contents: unknown[]) {
  const log: Uint8Array[] = []
  for (const data of contents) {
    const update = replace(load(log), type, key, data)
    if (update) log.push(update)
  }
  return { log, content: () => read(load(log), type, key) }
}

/** A client with an open document that has received all stored updates. */
function openEditor(log: Uint8Array[], clientID = 77) {
  const editor = new Y.Doc()
  editor.clientID = clientID
  for (const update of log) Y.applyUpdate(editor, update)
  return editor
}

const root = {
  text: (doc: Y.Doc) => doc.getText(key),
  map: (doc: Y.Doc) => doc.getMap(key),
  array: (doc: Y.Doc) => doc.getArray(key),
}

// Made of code units, not of characters, so that lone surrogates occur. Few letters, so that contents have equal ends.
const anyText = fc
  .array(fc.oneof(fc.constantFrom(0x61, 0x62, 0xd83d, 0xd83e, 0xde00, 0xde01), fc.nat(0xffff)))
  .map((units) => String.fromCharCode(...units))
const jsonValue = fc.jsonValue({ stringUnit: 'binary' }).map((value) => withoutProto(value))
const contents = {
  text: fc.array(anyText.map(wellFormed), { minLength: 1, maxLength: 4 }),
  map: fc.array(fc.dictionary(fc.string({ unit: 'binary' }), jsonValue).map(withoutProto), {
    minLength: 1,
    maxLength: 4,
  }),
  array: fc.array(fc.array(fc.oneof(jsonValue, fc.nat(2))), { minLength: 1, maxLength: 4 }),
}

function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, item: unknown) => (name === '__proto__' ? undefined : item))
}

describe.each(['text', 'map', 'array'] as const)('content of type %s', (type) => {
  it(`[17] content is read as it was written last, on the server and in open editors (${type})`, () => {
    fc.assert(
      fc.property<[unknown[]]>(contents[type], (versions) => {
        const { log, content } = write(type, ...versions)
        expect(content()).toEqual(versions.at(-1))
        expect(root[type](openEditor(log)).toJSON()).toEqual(versions.at(-1))
        expect(read(load([snapshot(load(log))]), type, key)).toEqual(versions.at(-1))
      }),
      { numRuns: 100 },
    )
  })

  it(`[17.3] replacing content by equal content creates no update (${type})`, () => {
    fc.assert(
      fc.property<[unknown[]]>(contents[type], (versions) => {
        const { log } = write(type, ...versions)
        expect(replace(load(log), type, key, versions.at(-1))).toBeNull()
      }),
      { numRuns: 40 },
    )
  })
})

describe('[17.3] replace', () => {
  it.each([
    ['text', 'one two three', 'one 2 three'],
    ['map', { a: 1, b: { c: [1, null] } }, { b: { c: [2, true] }, d: 'e' }],
    ['array', [1, 'a', { b: [] }, 4], [1, 'b', null]],
    ['xml', '<p>one</p><p>two</p>', '<p>one</p><h1 id="x">2</h1>three'],
  ] as const)(
    '[17.3] a replacement reaches an editor that has the document open (%s)',
    (type, before, after) => {
      const { log } = write(type, before)
      const editor = openEditor(log)
      Y.applyUpdate(editor, replace(load(log), type, key, after)!)
      expect(read(editor, type, key)).toEqual(after)
      expect(Y.encodeStateVector(editor)).toEqual(Y.encodeStateVector(openEditor([snapshot(editor)])))
    },
  )

  it('[17.3] a replacement converges with concurrent edits', () => {
    const { log } = write('text', 'Hello world')
    const editor = openEditor(log)
    const fromServer = replace(load(log), 'text', key, 'Hello there')!
    editor.getText(key).insert(0, 'Oh. ')
    Y.applyUpdate(editor, fromServer)
    const server = load([...log, fromServer, snapshot(editor)])
    expect(read(server, 'text', key)).toBe('Oh. Hello there')
    expect(read(editor, 'text', key)).toBe('Oh. Hello there')
  })

  it('[17.3] 200 replacements of each type use one client id and leave small updates and a small snapshot', () => {
    let log: Uint8Array[] = []
    let longest = 0
    for (let i = 1; i <= 200; i++) {
      const doc = load(log)
      expect(doc.clientID).toBe(serverClientId)
      for (const type of ['text', 'map', 'array', 'xml'] as const) {
        const data = { text: `v${i}`, map: { v: i }, array: [i], xml: `<v i="${i}"/>` }[type]
        const update = replace(doc, type, type, data)!
        log.push(update)
        longest = Math.max(longest, update.length)
      }
      if (i % 50 === 0) log = [snapshot(doc)]
    }
    const doc = load(log)
    expect([...Y.decodeStateVector(Y.encodeStateVector(doc)).keys()]).toEqual([serverClientId])
    expect(read(doc, 'xml', 'xml')).toBe('<v i="200"></v>')
    expect(longest).toBeLessThan(100)
    // 800 writes: a few bytes of tombstone each.
    expect(snapshot(doc).length).toBeLessThan(8_000)
  })

  it('[17.3] replacing a map keeps equal keys, sets changed keys and deletes absent keys', () => {
    const { log } = write('map', { same: { a: [1, { b: null }] }, changed: 1, absent: 1 })
    const editor = openEditor(log)
    const changes: Record<string, string> = {}
    editor.getMap(key).observe((event) => {
      for (const [name, { action }] of event.changes.keys) changes[name] = action
    })
    Y.applyUpdate(
      editor,
      replace(load(log), 'map', key, { changed: 2, same: { a: [1, { b: null }] }, added: 1 })!,
    )
    expect(changes).toEqual({ absent: 'delete', added: 'add', changed: 'update' })
  })

  it('[17.3] replacing a map or array keeps a shared type that a client created, if the content of the type stays equal', () => {
    const editor = openEditor([])
    const [title, row] = [new Y.Text('Title'), new Y.Map([['a', 1]])]
    editor.getMap('map').set('title', title)
    editor.getArray('array').insert(0, [row, 'last'])
    const doc = load([snapshot(editor)])
    Y.applyUpdate(editor, replace(doc, 'map', 'map', { title: 'Title', more: 1 })!)
    Y.applyUpdate(editor, replace(doc, 'array', 'array', [{ a: 1 }, 'new'])!)
    title.insert(5, '!')
    row.set('a', 2)
    expect(read(editor, 'map', 'map')).toEqual({ title: 'Title!', more: 1 })
    expect(read(editor, 'array', 'array')).toEqual([{ a: 2 }, 'new'])
  })

  it('[17.3] replacing a text keeps cursors in its unchanged parts', () => {
    const { log } = write('text', 'one two three')
    const editor = openEditor(log)
    const cursor = Y.createRelativePositionFromTypeIndex(editor.getText(key), 'one two '.length)
    Y.applyUpdate(editor, replace(load(log), 'text', key, 'one twenty-two three')!)
    const index = Y.createAbsolutePositionFromRelativePosition(cursor, editor)?.index
    expect(index).toBe('one twenty-two '.length)
  })

  it('[17.3] replacing XML keeps unchanged texts, with their formats', () => {
    const editor = openEditor([])
    const [rich, other] = [new Y.XmlText('rich'), new Y.XmlText('other')]
    editor.getXmlFragment(key).insert(0, [rich, new Y.XmlElement('hr'), other])
    rich.format(0, 4, { strong: {} })
    const doc = load([snapshot(editor)])
    expect(replace(doc, 'xml', key, '<strong>rich</strong><hr/>other')).toBeNull()
    Y.applyUpdate(editor, replace(doc, 'xml', key, '<strong>rich</strong><hr/>another')!)
    expect(rich.toDelta()).toEqual([{ insert: 'rich', attributes: { strong: {} } }])
    expect(read(editor, 'xml', key)).toBe('<strong>rich</strong><hr></hr>another')
  })

  it('[17.3] replacing XML by equal XML creates no update, even if the stored text is split into several nodes', () => {
    const editor = openEditor([])
    editor.getXmlFragment(key).insert(0, [new Y.XmlText('a'), new Y.XmlText(''), new Y.XmlText('b')])
    expect(replace(load([snapshot(editor)]), 'xml', key, 'ab')).toBeNull()
  })

  it('[17.3] replacing a text removes the objects that are embedded in it', () => {
    const editor = openEditor([])
    editor.getText(key).insert(0, 'abc')
    editor.getText(key).insertEmbed(1, { image: 'x' })
    const doc = load([snapshot(editor)])
    expect(read(doc, 'text', key)).toBe('abc')
    Y.applyUpdate(editor, replace(doc, 'text', key, 'abd')!)
    expect(editor.getText(key).toDelta()).toEqual([{ insert: 'abd' }])
  })
})

describe('[17] contentError', () => {
  it.each([
    ['text', 1, 'Data must be a string for type text.'],
    ['xml', {}, 'Data must be a string for type xml.'],
    ['map', [], 'Data must be an object for type map.'],
    ['map', null, 'Data must be an object for type map.'],
    ['array', {}, 'Data must be an array for type array.'],
    ['array', 'a', 'Data must be an array for type array.'],
  ] as const)('[17] contentError names the data that type %s needs instead of %j', (type, data, message) => {
    expect(contentError(type, data)).toBe(message)
    expect(() => replace(load([]), type, key, data)).toThrow(new TypeError(message))
  })

  it('[17] the empty value of each type is accepted, and creates no update in an empty document', () => {
    for (const [type, data] of [
      ['text', ''],
      ['xml', ''],
      ['map', {}],
      ['array', []],
    ] as const) {
      expect(contentError(type, data)).toBeNull()
      expect(replace(load([]), type, key, data)).toBeNull()
      expect(read(load([]), type, key)).toEqual(data)
    }
  })

  it('[17.0.1] data that is nested too deep and maps with too many keys are refused', () => {
    expect(write('array', nested(101)).content()).toEqual(nested(101))
    expect(contentError('array', nested(102))).toBe('Data must not be nested deeper than 100 levels.')
    expect(contentError('map', { a: nested(1e6) })).toBe('Data must not be nested deeper than 100 levels.')
    expect(contentError('map', keys(50_000))).toBeNull()
    expect(contentError('map', keys(50_001))).toBe('Data must not have more than 50000 keys.')
    expect(contentError('array', Array(50_001).fill(0))).toBeNull()
    expect(
      contentError(
        'array',
        repeat(50_001, () => ({ constructor: 0 })),
      ),
    ).toMatch(/^Data must not have more/)
  })
})

describe('[17] hostile content', () => {
  it('[17] content never contains __proto__, from callers or from clients', () => {
    const attack = '{"__proto__":{"admin":true},"a":{"__proto__":{"admin":true},"b":1}}'
    expect(write('map', parse(attack)).content()).toStrictEqual({ a: { b: 1 } })
    expect(write('array', [parse(attack)]).content()).toStrictEqual([{ a: { b: 1 } }])

    const editor = openEditor([])
    editor.getMap(key).set('__proto__', { admin: true })
    editor.getMap(key).set('a', parse(attack))
    const doc = load([snapshot(editor)])
    const content = read(doc, 'map', key) as { admin?: true; a: { admin?: true } }
    expect(content).toStrictEqual({ a: { a: { b: 1 } } })
    expect([content.admin, content.a.admin]).toEqual([undefined, undefined])
    Y.applyUpdate(editor, replace(doc, 'map', key, { a: 1 })!)
    expect([...editor.getMap(key).keys()]).toEqual(['a'])
  })

  it('[17] content may have keys that are special in Yjs or JavaScript', () => {
    const odd = { constructor: { constructor: null, a: [{ constructor: 1 }] }, toJSON: 1, hasOwnProperty: 2 }
    for (const [type, data] of [
      ['map', odd],
      ['map', { a: odd }],
      ['array', [1, odd, 'z']],
    ] as const) {
      const { log, content } = write(type, data)
      expect(content()).toEqual(data)
      expect(root[type](openEditor(log)).toJSON()).toEqual(data)
      expect(replace(load(log), type, key, data)).toBeNull()
    }
  })

  it('[17] content has no lone surrogates, neither in values nor in keys', () => {
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        const doc = load([])
        replace(doc, 'text', before, before)
        replace(doc, 'text', before, after)
        expect(read(doc, 'text', before)).toBe(wellFormed(after))
        expect(read(load([snapshot(doc)]), 'text', before)).toBe(wellFormed(after))
      }),
      { numRuns: 300 },
    )
    expect(write('map', { 'k\uDC00': ['v\uD800', '😀'] }).content()).toEqual({ 'k\uFFFD': ['v\uFFFD', '😀'] })
    expect(write('xml', '<p a="\uD800">\uDC00😀</p>').content()).toBe('<p a="\uFFFD">\uFFFD😀</p>')
  })

  it('[17] replacing an emoji by one with the same first or second surrogate splits neither', () => {
    expect(write('text', 'a😀b', 'a😁b').content()).toBe('a😁b')
    expect(write('text', 'a😀b', 'a🨀b').content()).toBe('a🨀b')
    expect(write('text', '😀', '🨀😀').content()).toBe('🨀😀')
  })

  it('[17] content may have numbers of every size, null, booleans, long strings and long arrays', () => {
    const data = [0, -0, 0.1, -1e308, 5e-324, 2 ** 31, 2 ** 53, null, true, false, '', '\0', 'x'.repeat(1e6)]
    expect(write('array', data).content()).toEqual(data)
    expect(write('map', Object.fromEntries(data.entries())).content()).toEqual(
      Object.fromEntries(data.entries()),
    )
    expect(write('array', parse('[1e400]')).content()).toEqual([null])
    expect(write('text', 'x'.repeat(5e6)).content()).toHaveLength(5e6)
    expect(write('array', Array(300_000).fill('a')).content()).toHaveLength(300_000)
  })

  it('[17] content is read as JSON, whatever values clients have stored', () => {
    const editor = openEditor([])
    const map = editor.getMap(key)
    map.set('big', 10n)
    map.set('bytes', new Uint8Array([1, 2, 3]))
    map.set('infinite', [Infinity, NaN, undefined])
    map.set('text', new Y.Text('text'))
    map.set('list', Y.Array.from([new Y.Map([['a', 1]])]))
    map.set('xml', new Y.XmlElement('P'))
    map.set('subdocument', new Y.Doc())
    expect(read(load([snapshot(editor)]), 'map', key)).toStrictEqual({
      big: '10',
      bytes: 'AQID',
      infinite: [null, null, null],
      text: 'text',
      list: [{ a: 1 }],
      xml: '<P></P>',
      subdocument: null,
    })
  })

  it('[17] content can be written to and read from a root that clients filled as another type', () => {
    const editor = openEditor([])
    editor.getArray(key).insert(0, ['a', 1, new Y.Map()])
    for (const [type, data] of [
      ['text', 'b'],
      ['xml', '<b></b>'],
      ['map', { b: 1 }],
    ] as const) {
      const doc = load([snapshot(editor)])
      replace(doc, type, key, data)
      expect(read(load([snapshot(doc)]), type, key)).toEqual(data)
    }
  })

  it('[17] content of types that are nested deeper than the stack is read down to 100 levels', () => {
    const editor = openEditor([])
    editor.transact(() => {
      let map = editor.getMap(key)
      for (let i = 0; i < 20_000; i++) map = map.set('a', new Y.Map())
    })
    expect(JSON.stringify(read(load([snapshot(editor)]), 'map', key))).toMatch(/^({"a":){101}null}+$/)
  })
})
