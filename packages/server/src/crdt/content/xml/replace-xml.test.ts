import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { read, replace } from '../content.ts'
import { UnfitContent } from '../errors.ts'
import { load } from '../load.ts'
import {
  type Block,
  docOf,
  documents,
  modelOf,
  type Model,
  textsOf,
} from '../../../../test/support/random/editor-model.ts'

const key = 'default'
const xmlOf = (doc: Y.Doc) => String(read(doc, 'xml', key))
const copyOf = (doc: Y.Doc) => load([Y.encodeStateAsUpdate(doc)])

/** Writes over REST, and returns the document of an editor that was open meanwhile, and what changed in it. */
function write(doc: Y.Doc, xml: string) {
  const editor = new Y.Doc()
  Y.applyUpdate(editor, Y.encodeStateAsUpdate(doc))
  const update = replace(copyOf(doc), 'xml', key, xml)
  /** How many characters and elements were deleted, and what was inserted. */
  let [deleted, inserted] = [0, [] as string[]]
  editor.on('afterTransaction', (transaction) => {
    Y.iterateDeletedStructs(transaction, transaction.deleteSet, (struct) => {
      if (struct instanceof Y.Item && struct.countable) deleted += struct.length
    })
  })
  if (update) {
    const { structs } = Y.decodeUpdate(update)
    inserted = structs.map((struct) => (struct as Y.Item).content.constructor.name)
    Y.applyUpdate(editor, update)
  }
  return { editor, deleted, inserted, model: modelOf(editor, key) }
}

const idOf = (doc: Y.Doc, index: number) => {
  const { _item: item } = doc.getXmlFragment(key).get(index)
  return item?.id
}

const paragraph = (...content: Model): Block => ({ name: 'paragraph', attributes: {}, content })
const text = (characters: string, formats: Record<string, unknown> = {}) => ({ characters, formats })

describe('[17.3] XML of an editor', () => {
  it('[17.3.4] XML that is written as it was read creates no update, in random documents', () => {
    fc.assert(
      fc.property(documents, (model) => {
        const doc = docOf(model, key)
        expect(modelOf(doc, key)).toEqual(model)
        expect(replace(copyOf(doc), 'xml', key, xmlOf(doc))).toBeNull()
      }),
      { numRuns: 100 },
    )
  })

  it('[17.3.4] one changed word is all that changes in random documents: formats, types of attributes and all items stay', () => {
    fc.assert(
      fc.property(documents, fc.nat(), fc.constantFrom('Neu', '🦊', 'a & <b>'), (random, at, word) => {
        const model = structuredClone(random)
        const texts = textsOf(model)
        if (texts.length === 0) return
        const doc = docOf(model, key)
        const changed = texts[at % texts.length]!
        const marked = '\u0001'
        const before = changed.characters
        const [old = ''] = before.split(' ')
        changed.characters = `${marked}${before.slice(old.length)}`
        const escaped = word.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
        const xml = xmlOf(docOf(model, key)).replace('\uFFFD', escaped)
        changed.characters = `${word}${before.slice(old.length)}`
        const { model: after, deleted, inserted } = write(doc, xml)
        expect(after).toEqual(model)
        expect(deleted).toBeLessThanOrEqual(old.length)
        expect(inserted.filter((kind) => kind !== 'ContentString')).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('[17.3.4] a document becomes any other one that has the same formats and attributes, with their types', () => {
    fc.assert(
      fc.property(documents, documents, documents, (one, other, more) => {
        const before = docOf([...one, ...other, ...more], key)
        const wanted = [...more, ...other]
        const { editor, model } = write(before, xmlOf(docOf(wanted, key)))
        expect(model).toEqual(wanted)
        expect(replace(copyOf(editor), 'xml', key, xmlOf(editor))).toBeNull()
      }),
      { numRuns: 100 },
    )
  })

  const intro: Model = [
    { name: 'heading', attributes: { level: 2 }, content: [text('Title')] },
    paragraph(text('Intro text '), text('important', { bold: {} }), text(' middle end.')),
  ]

  it('[17.3.4] two changed words leave the bold word between them, and the level of the heading stays a number', () => {
    const xml = xmlOf(docOf(intro, key))
    expect(xml).toBe(
      '<heading level="2">Title</heading><paragraph>Intro text <bold>important</bold> middle end.</paragraph>',
    )
    const doc = docOf(intro, key)
    const { model, deleted, inserted } = write(doc, xml.replace('Intro', 'Opening').replace('end', 'close'))
    expect(model).toEqual([
      intro[0],
      paragraph(text('Opening text '), text('important', { bold: {} }), text(' middle close.')),
    ])
    expect([deleted, inserted]).toEqual(['Introend'.length, ['ContentString', 'ContentString']])
  })

  it.each([
    ['the level of a heading', 'level="2"', 'level="3"', { level: 3 }],
    ['a number by a text', 'level="2"', 'level="two"', { level: 'two' }],
    ['an attribute away', ' level="2"', '', {}],
    ['an attribute in', 'level="2"', 'level="2" textAlign="center"', { level: 2, textAlign: 'center' }],
  ])('[17.3.4] XML changes %s', (_, from, to, attributes) => {
    const doc = docOf(intro, key)
    const { model, editor } = write(doc, xmlOf(doc).replace(from, to))
    expect(model).toEqual([{ ...(intro[0] as Block), attributes }, intro[1]])
    expect(idOf(editor, 0)).toEqual(idOf(doc, 0))
  })

  it('[17.3.4] formats are added to, changed in and removed from text that stays', () => {
    const link = { href: 'a', target: '_blank', class: null }
    const doc = docOf([paragraph(text('one '), text('two', { link }), text(' three'))], key)
    const xml = '<paragraph><bold>one</bold> <link href="b" target="_blank">two</link> three</paragraph>'
    const { model, deleted, inserted } = write(doc, xml)
    expect(model).toEqual([
      paragraph(
        text('one', { bold: {} }),
        text(' '),
        text('two', { link: { ...link, href: 'b' } }),
        text(' three'),
      ),
    ])
    expect([deleted, ...new Set(inserted)]).toEqual([0, 'ContentFormat'])
    expect(write(doc, '<paragraph>one two three</paragraph>').model).toEqual([
      paragraph(text('one two three')),
    ])
  })

  it('[17.3.4] an added paragraph leaves the changed paragraph after it in place', () => {
    const doc = docOf([paragraph(text('The quick fox jumps.')), paragraph(text('The end.'))], key)
    const { editor } = write(
      doc,
      '<paragraph>New.</paragraph><paragraph>The quick red fox jumps.</paragraph><paragraph>The end.</paragraph>',
    )
    expect(idOf(editor, 1)).toEqual(idOf(doc, 0))
  })

  it('[17.3.4] new elements have formats and types as in the rest of the document, or as editors name them', () => {
    const { model } = write(
      docOf(
        [
          {
            name: 'callout',
            attributes: { level: 1, open: true },
            content: [text('x', { spoiler: { by: 1 } })],
          },
        ],
        key,
      ),
      '<callout level="2" open="false"><spoiler by="2">y</spoiler></callout><callout level="1" open="true"><spoiler by="1">x</spoiler></callout>' +
        '<taskItem checked="false"><paragraph>a <bold>b <link href="1">c</link></bold></paragraph></taskItem>' +
        '<table><tableCell colspan="2" colwidth="[100]"></tableCell></table><mention id="42" level="1"></mention>',
    )
    expect(model).toEqual([
      {
        name: 'callout',
        attributes: { level: 2, open: false },
        content: [text('y', { spoiler: { by: 2 } })],
      },
      { name: 'callout', attributes: { level: 1, open: true }, content: [text('x', { spoiler: { by: 1 } })] },
      {
        name: 'taskItem',
        attributes: { checked: false },
        content: [
          paragraph(text('a '), text('b ', { bold: {} }), text('c', { bold: {}, link: { href: '1' } })),
        ],
      },
      {
        name: 'table',
        attributes: {},
        content: [{ name: 'tableCell', attributes: { colspan: 2, colwidth: [100] }, content: [] }],
      },
      { name: 'mention', attributes: { id: '42', level: '1' }, content: [] },
    ])
  })

  it.each([
    ['in Tiptap', paragraph(text('a')), 'bold', ['strong', 'em', 'highlight', 'b', 'span']],
    [
      'with a schema of ProseMirror',
      { ...paragraph(), name: 'code_block' },
      'strong',
      ['bold', 'underline', 'i'],
    ],
  ])(
    '[17.3.5] a first format %s is accepted if every such editor has it, and refused if it may remove the text',
    (_, block, known, unknown) => {
      const doc = docOf([paragraph(text('a')), block], key)
      const writeWith = (name: string) => write(doc, `<paragraph>a<${name}>b</${name}></paragraph>`).model
      expect(writeWith(known)).toEqual([paragraph(text('a'), text('b', { [known]: {} }))])
      for (const name of unknown) expect(() => writeWith(name)).toThrow(`it has no <${name}> yet`)
      expect(() => write(doc, '<p>a</p>')).toThrow('it has no <p> yet')
      expect(write(docOf([], key), '<p>a<strong>b</strong></p>').model).toHaveLength(1)
    },
  )

  it('[17.3.4] a name of a format is an element where the document has such elements, or where it has no text', () => {
    const code = { name: 'code', attributes: {}, content: [text('x')] }
    expect(write(docOf([paragraph(code)], key), '<paragraph><code>y</code></paragraph>').model).toEqual([
      paragraph({ ...code, content: [text('y')] }),
    ])
    expect(write(docOf([], key), '<p><link href="a"/></p><link>b</link>').model).toEqual([
      { name: 'p', attributes: {}, content: [{ name: 'link', attributes: { href: 'a' }, content: [] }] },
      { name: 'link', attributes: {}, content: [text('b')] },
    ])
  })

  it('[17.3.4] a format whose value XML does not show keeps it, also around changed words', () => {
    const doc = docOf(
      [paragraph(text('red words', { color: 'red' }), text('blue words', { color: 'blue' }))],
      key,
    )
    const xml = xmlOf(doc)
    expect(xml).toBe('<paragraph><color>red words</color><color>blue words</color></paragraph>')
    expect(write(doc, xml.replace('red words', 'dark words').replace('blue', 'light')).model).toEqual([
      paragraph(text('dark words', { color: 'red' }), text('light words', { color: 'blue' })),
    ])
  })

  const refusals: [what: string, before: Model, xml: string, reason: string][] = [
    [
      'an element in a format',
      intro,
      '<paragraph><bold>a<hardBreak/>b</bold></paragraph>',
      '<bold> is a format, and <hardBreak> in it is an element. Only text can have formats.',
    ],
    [
      'a format without text',
      intro,
      '<paragraph>a<bold></bold></paragraph>',
      '<bold> is a format, and has no text.',
    ],
    [
      'two formats of one name',
      [],
      '<p><link href="a">a<link href="b">b</link></link></p>',
      '<link> is in another <link>. A text has each format once.',
    ],
    [
      'a name with two meanings',
      [...intro, paragraph({ name: 'bold', attributes: {}, content: [] })],
      '<quote><bold>a</bold></quote>',
      '<bold> is both an element and a format there, so its meaning is not clear.',
    ],
    [
      'a format with an unknown value',
      [paragraph(text('a', { color: 'red' }), text('b', { color: 'blue' }))],
      '<list><color>c</color></list>',
      '<color> is a format with a value that XML does not show. The text needs another one.',
    ],
    [
      'a changed value that is not JSON',
      [{ name: 'file', attributes: { data: new Uint8Array([1]) }, content: [] }],
      '<file data="x"></file>',
      'The attribute "data" of <file> has a value that XML cannot change.',
    ],
    [
      'a key that Yjs takes for a type',
      [{ name: 'p', attributes: { a: { b: 1 } }, content: [] }],
      '<p a="{&quot;constructor&quot;:1}"/>',
      'The value of an attribute must not have the key "constructor".',
    ],
  ]
  it.each(refusals)('[17.3.5] XML with %s is refused with the reason', (_, before, xml, reason) => {
    expect(() => write(docOf(before, key), xml)).toThrow(
      new UnfitContent(`XML does not fit the document: ${reason}`),
    )
  })
})

describe('[17.3.5] content that XML does not show', () => {
  /** A document that a client made. */
  function docWith(make: (fragment: Y.XmlFragment) => void) {
    const doc = new Y.Doc()
    doc.transact(() => make(doc.getXmlFragment(key)))
    return doc
  }

  it('[17.3.5] an embedded object stays between the words around it, whatever they become', () => {
    const doc = docWith((fragment) => {
      const line = new Y.XmlText('see here')
      fragment.insert(0, [line, new Y.XmlElement('hr')])
      line.insertEmbed(4, { image: 'x' })
      line.format(0, 3, { bold: true })
    })
    const deltaAfter = (xml: string) =>
      (write(doc, xml).editor.getXmlFragment(key).get(0) as Y.XmlText).toDelta()
    expect(deltaAfter('<bold>look</bold> there<hr/>')).toEqual([
      { insert: 'look', attributes: { bold: true } },
      { insert: ' t' },
      { insert: { image: 'x' } },
      { insert: 'here' },
    ])
    expect(deltaAfter('<hr/>')).toEqual([{ insert: { image: 'x' } }])
  })

  it('[17.3.5] an element with an embedded object, another type or too many levels in it is not removed', () => {
    const inside: [name: string, make: (p: Y.XmlElement) => void][] = [
      ['embed', (p) => (p.insert(0, [new Y.XmlText('a')]), (p.get(0) as Y.XmlText).insertEmbed(0, { a: 1 }))],
      ['hook', (p) => p.insert(0, [new Y.XmlHook('hook') as Y.AbstractType<unknown> as Y.XmlElement])],
      [
        'deep',
        (p) => {
          let parent = p
          for (let level = 0; level < 101; level++) {
            const child = new Y.XmlElement('a')
            parent.insert(0, [child])
            parent = child
          }
        },
      ],
    ]
    for (const [, make] of inside) {
      const doc = docWith((fragment) => {
        const p = new Y.XmlElement('p')
        fragment.insert(0, [p])
        make(p)
      })
      expect(() => write(doc, '<h1>x</h1>')).toThrow(
        'it lacks <p>, in which the document has content that XML does not show.',
      )
      expect(replace(copyOf(doc), 'xml', key, xmlOf(doc))).toBeNull()
      expect(write(doc, `${xmlOf(doc)}<h1>x</h1>`).model).toHaveLength(2)
    }
  })

  it('[17.3.5] in a document as Lexical stores it, words can be changed, and elements are refused', () => {
    const doc = docWith((fragment) => {
      for (const [index, line] of ['Hello world', 'More words'].entries()) {
        const paragraph = new Y.XmlText()
        fragment.insert(index, [paragraph])
        paragraph.setAttribute('__type', 'paragraph')
        paragraph.insertEmbed(0, new Y.Map([['__type', 'text']]))
        paragraph.insert(1, line)
      }
    })
    const { editor } = write(doc, 'Hello small worldMore letters')
    const lines = editor.getXmlFragment(key).toArray() as Y.XmlText[]
    expect(
      lines.map((line) =>
        line.toDelta().map(({ insert }: { insert: unknown }) => (typeof insert === 'string' ? insert : '{}')),
      ),
    ).toEqual([
      ['{}', 'Hello small world'],
      ['{}', 'More letters'],
    ])
    expect(() => write(doc, 'Hello worldMore words<p/>')).toThrow(/only words can be changed/)
  })

  it('[17.3] texts of any depth and length of formats keep what XML does not show of them', () => {
    const formats = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, {}]))
    const doc = docWith((fragment) => {
      const line = new Y.XmlText()
      fragment.insert(0, [line])
      line.insert(0, 'one two', formats)
    })
    const { editor } = write(doc, xmlOf(doc).replace('one', 'six'))
    const [first, second] = (editor.getXmlFragment(key).get(0) as Y.XmlText).toDelta()
    expect(Object.keys(first.attributes)).toHaveLength(100)
    expect([second.insert, Object.keys(second.attributes)]).toEqual([' two', Object.keys(formats)])
  })
})
