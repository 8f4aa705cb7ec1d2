import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { expectToEnd } from '../../../../test/support/measures/endless-work.ts'
import { read, replace } from '../content.ts'
import { load, snapshot } from '../load.ts'
import { nodesOf } from './stored-units.ts'
import { formatXml, parseXml, XmlError, type XmlNode } from './xml.ts'

const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
const rewrite = (xml: string) => formatXml(parseXml(xml))

/** Writes XML to a Yjs document, and reads it from its bytes. */
function store(xml: string) {
  const doc = load([])
  replace(doc, 'xml', 'content', xml)
  return read(load([snapshot(doc)]), 'xml', 'content')
}

/** The XML of a fragment that a client wrote. */
function xmlOfClient(make: (fragment: Y.XmlFragment) => void) {
  const editor = new Y.Doc()
  make(editor.getXmlFragment('content'))
  return String(read(load([Y.encodeStateAsUpdate(editor)]), 'xml', 'content'))
}

// Without control characters such as '\0', which XML does not have.
const text = fc
  .string({ unit: 'binary' })
  .map((value) => value.replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '<&">\''))
const name = fc.oneof(
  fc.constantFrom('p', 'P', 'ns:h1', '_', 'a.b-c', 'é', '𐀀'),
  fc.stringMatching(/^[A-Za-z_]\w*$/),
)
const tree = fc.letrec<{ node: XmlNode; nodes: XmlNode[] }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.filter((value) => value !== ''),
    fc.record({
      name,
      attributes: fc
        .dictionary(name, text)
        .map((record) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))),
      children: tie('nodes'),
    }),
  ),
  // Two adjacent texts are read as one text.
  nodes: fc
    .array(tie('node'), { maxLength: 5 })
    .map((nodes) => nodes.filter((node, i) => typeof node !== 'string' || typeof nodes[i - 1] !== 'string')),
}))

describe('[17] XML', () => {
  it('[17] XML of any tree can be written, stored and read again', () => {
    fc.assert(
      fc.property(tree.nodes, (nodes) => {
        const xml = formatXml(nodes)
        expect(parseXml(xml).map(sorted)).toEqual(nodes)
        expect(store(xml)).toBe(xml)
      }),
      { numRuns: 300 },
    )
  })

  const sorted = (node: XmlNode): XmlNode =>
    typeof node === 'string'
      ? node
      : {
          name: node.name,
          attributes: node.attributes.sort(([a], [b]) => (a < b ? -1 : 1)),
          children: node.children.map(sorted),
        }

  it.each([
    ['several nodes and text at the top', 'a<b>c</b>\n<d>e</d>f', 'a<b>c</b>\n<d>e</d>f'],
    ['empty elements in full', '<p/><p></p>', '<p></p><p></p>'],
    ['the case of names', '<Para dataId="A">x</Para>', '<Para dataId="A">x</Para>'],
    ['sorted attributes', '<p b="2" a="1"/>', '<p a="1" b="2"></p>'],
    ['the predefined entities resolved', '&lt;&amp;&gt;&quot;&apos;&#x1F600;', '&lt;&amp;&gt;"\'😀'],
    ['quotes and line breaks in attributes', `<p a='"&#10;&#9;&#13;'/>`, '<p a="&quot;&#10;&#9;&#13;"></p>'],
    ['line breaks normalised as XML demands', 'a\r\nb\rc&#13;d', 'a\nb\nc&#13;d'],
    ['CDATA as text', '<![CDATA[<b>]]>', '&lt;b&gt;'],
    ['no comments and no instructions', '<?xml version="1.0"?>a<!-- b -->c<?d e?>f', 'acf'],
    ['no byte order mark', '\uFEFF<?xml version="1.0"?><p/>', '<p></p>'],
    ['no attribute __proto__', '<p __proto__="x" a="1"/>', '<p a="1"></p>'],
  ])('[17] XML is stored with %s', (_, xml, expected) => {
    expect(store(xml)).toBe(expected)
    expect(rewrite(xml)).toBe(expected)
    expect(rewrite(expected)).toBe(expected)
  })

  it('[17] texts that only comments and instructions separate are joined', () => {
    expect(parseXml('a<!-- b -->c<?d e?>f<![CDATA[g]]>')).toEqual(['acfg'])
  })

  it.each([
    ['<p>a', 'Missing end tag for element p (line 1, column 5)'],
    ['<p>\n  <b></p>', 'Missing end tag for element b (line 2, column 6)'],
    ['a</p>', 'Unexpected markup (line 1, column 2)'],
    ['😀😀\n😀 < b', 'Unexpected markup (line 2, column 3)'],
    ['<!DOCTYPE p><p/>', 'DOCTYPE is not accepted (line 1, column 1)'],
    ['<p>\n<!doctype p></p>', 'DOCTYPE is not accepted (line 2, column 1)'],
    ['</_><_>', 'Extra content at the end of the document (line 1, column 5)'],
    ['<p a="1" a="2"/>', 'Duplicate attribute: a (line 1, column 15)'],
    ['<p a=1/>', 'Attribute value expected (line 1, column 6)'],
    ['&nbsp;', "Named entity isn't defined: &nbsp; (line 1, column 1)"],
    ['a\0b', 'Invalid character (line 1, column 2)'],
  ])('[17] the error for %j says what is wrong and where', (xml, reason) => {
    expect(() => parseXml(xml)).toThrow(new XmlError(`XML is not well-formed: ${reason}.`))
  })

  it('[17] malformed XML does not change the document', () => {
    const doc = load([])
    replace(doc, 'xml', 'content', '<p>a</p>')
    const before = snapshot(doc)
    expect(() => replace(doc, 'xml', 'content', '<p>')).toThrow(XmlError)
    expect(snapshot(doc)).toEqual(before)
  })

  const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
  it.each([
    ['a billion laughs', `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "lol">${laughs}]><l>&l9;</l>`],
    ['an external entity', '<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><f>&x;</f>'],
    ['an external document type', '<!DOCTYPE f SYSTEM "http://localhost/x.dtd"><f/>'],
    ['a document type inside', '<f><!DOCTYPE f [<!ENTITY x "y">]></f>'],
    ['an undeclared entity', '<f>&x;</f>'],
  ])('[17.0.1] XML with %s is refused', (_, xml) => {
    expect(() => parseXml(xml)).toThrow(XmlError)
  })

  it('[17.0.1] XML that is nested too deep or has too many nodes is refused, and line breaks take a number of steps that grows with their number', () => {
    expect(store(nested(100))).toBe(nested(100))
    const tooDeep = new XmlError('XML must not be nested deeper than 100 levels.')
    for (const depth of [101, 10_000, 49_999]) expect(() => parseXml(nested(depth))).toThrow(tooDeep)
    const tooMany = new XmlError('XML must not have more than 50000 nodes and attributes.')
    for (const xml of ['<a/>'.repeat(50_001), '<a b=""/>'.repeat(25_001), '<a/>'.repeat(1e6), nested(1e6)]) {
      expect(() => parseXml(xml)).toThrow(tooMany)
    }
    expect(store(`<p>${'<a/>'.repeat(49_999)}</p>`)).toHaveLength(49_999 * 7 + 7)
    expectToEnd(() => parseXml('\r'.repeat(1_000_000)))
  })
})

describe('[17] XML of content that clients wrote', () => {
  it('[17] formats of rich text are read as nested elements, sorted by name', () => {
    const xml = xmlOfClient((fragment) => {
      const text = new Y.XmlText('plain <bold> link')
      fragment.insert(0, [text])
      text.format(6, 6, { strong: {}, em: { b: '"', a: 1 } })
      text.format(13, 4, { a: { href: 'http://x/?a&b' }, color: 'red', underline: true })
    })
    expect(xml).toBe(
      'plain <em a="1" b="&quot;"><strong>&lt;bold&gt;</strong></em> ' +
        '<a href="http://x/?a&amp;b"><color><underline>link</underline></color></a>',
    )
    expect(rewrite(xml)).toBe(xml)
  })

  it('[17] XML without characters to escape equals the output of Yjs', () => {
    const doc = new Y.Doc()
    const fragment = doc.getXmlFragment('content')
    const [p, text] = [new Y.XmlElement('p'), new Y.XmlText('hello')]
    fragment.insert(0, [p, new Y.XmlElement('hr')])
    p.setAttribute('class', 'x')
    p.setAttribute('align', 'left')
    p.insert(0, [text])
    text.format(1, 2, { b: {}, a: { href: 'y' } })
    expect(formatXml(nodesOf(fragment))).toBe(fragment.toJSON())
  })

  it('[17] XML of clients leaves out embeds and types that are not XML', () => {
    const xml = xmlOfClient((fragment) => {
      const text = new Y.XmlText('ab')
      const hook = new Y.XmlHook('hook') as Y.AbstractType<unknown> as Y.XmlElement
      fragment.insert(0, [text, hook])
      text.insertEmbed(1, { image: 'x' })
    })
    expect(xml).toBe('ab')
  })

  it('[17] XML of clients has escaped names, values and texts', () => {
    const attack = '"><script>alert(1)</script>'
    const xml = xmlOfClient((fragment) => {
      const element = new Y.XmlElement(`a ${attack}`)
      const text = new Y.XmlText(`${attack}\0\u0001]]>`)
      fragment.insert(0, [element, text, new Y.XmlElement('')])
      element.setAttribute(attack, 'x')
      element.setAttribute('b', attack)
      // Editors store values other than the strings that Yjs declares.
      element.setAttribute('list', [1, { c: attack }] as unknown as string)
      element.setAttribute('none', null as unknown as string)
      text.format(0, 2, { [attack]: { [attack]: 'x' } })
    })
    expect(xml).not.toContain('<script')
    expect(xml).toContain('\uFFFD\uFFFD]]&gt;')
    expect(xml).toContain('list="[1,{&quot;c&quot;:&quot;\\&quot;&gt;&lt;script')
    expect(rewrite(xml)).toBe(xml)
  })

  it('[17] XML of clients is cut at the depth that the server accepts', () => {
    const xml = xmlOfClient((fragment) => {
      fragment.doc!.transact(() => {
        let parent = fragment
        for (let i = 0; i < 20_000; i++) {
          const child = new Y.XmlElement('a')
          parent.insert(0, [child])
          parent = child
        }
      })
    })
    expect(xml).toBe(nested(100))
    const formats = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, {}]))
    const rich = xmlOfClient((fragment) => {
      fragment.insert(0, [new Y.XmlElement('p')])
      const text = new Y.XmlText()
      ;(fragment.get(0) as Y.XmlElement).insert(0, [text])
      text.insert(0, 'x', formats)
    })
    expect(rich.split('</')).toHaveLength(101)
    expect(rewrite(rich)).toBe(rich)
  })
})
