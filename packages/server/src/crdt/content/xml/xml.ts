import { parseXml as parseDocument, XmlElement, XmlError as ParseError, XmlText } from '@rgrove/parse-xml'
import { UnfitContent } from '../errors.ts'
import { maxDepth, maxItems, wellFormed } from '../values.ts'

export interface XmlTag {
  name: string
  attributes: [string, string][]
  children: XmlNode[]
}

/** A string is text; an object is an element. */
export type XmlNode = string | XmlTag

export class XmlError extends UnfitContent {
  override name = 'XmlError'
}

/**
 * Parses a fragment: any number of elements and text nodes. Drops comments and processing instructions. Attributes are
 * sorted by name. No text is empty, and no two texts are neighbours.
 */
export function parseXml(xml: string): XmlNode[] {
  // The parser needs one root. Inside it a document type is a syntax error, so no entities are expanded or fetched. The
  // parser normalises line breaks in quadratic time, so they are normalised here. An XML declaration becomes a processing
  // instruction.
  const text = wellFormed(xml)
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^<\?xml(?=\s)/, '<?_ml')
  if (text.split('<', 2 * maxItems + 2).length > 2 * maxItems + 1) throw tooMany()
  try {
    return nodesIn(parseDocument(`<_>${text}</_>`).root!, 1, { items: maxItems })
  } catch (error) {
    if (error instanceof ParseError) throw new XmlError(explain(error, text))
    // The parser recurses for each element, limited only by the stack.
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

function nodesIn(element: XmlElement, depth: number, left: { items: number }): XmlNode[] {
  const nodes: XmlNode[] = []
  for (const child of element.children) {
    const last = nodes.at(-1)
    if (child instanceof XmlText) {
      if (child.text === '') continue
      if (typeof last === 'string') nodes[nodes.length - 1] = last + child.text
      else nodes.push(child.text)
    } else if (child instanceof XmlElement) {
      if (depth > maxDepth) throw tooDeep()
      const attributes = printableAttributes(Object.entries(child.attributes))
      left.items -= attributes.length
      nodes.push({ name: child.name, attributes, children: nodesIn(child, depth + 1, left) })
    }
  }
  left.items -= nodes.length
  if (left.items < 0) throw tooMany()
  return nodes
}

const tooDeep = () => new XmlError(`XML must not be nested deeper than ${maxDepth} levels.`)
const tooMany = () => new XmlError(`XML must not have more than ${maxItems} nodes and attributes.`)

/** The parser's reason, with the position in the caller's text: without our root, in whole characters. */
function explain(error: ParseError, text: string) {
  let [line, column, left] = [1, 1, error.pos - '<_>'.length]
  for (const character of text) {
    if (left-- <= 0) break
    if (character === '\n') [line, column] = [line + 1, 1]
    else column++
  }
  const isDoctype = /^<!doctype/i.test(text.slice(error.pos - '<_>'.length, error.pos + '<!DOCTYPE'.length))
  const reason = isDoctype
    ? 'DOCTYPE is not accepted'
    : error.message.split(' (line ')[0]!.replace(/^Missing end tag for element _$/, 'Unexpected markup')
  return `XML is not well-formed: ${reason.slice(0, 200)} (line ${line}, column ${column}).`
}

const nameStart =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const nameRest = `${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`
const validName = new RegExp(`^[${nameStart}][${nameRest}]*$`, 'u')
const notInNames = new RegExp(`[^${nameRest}]`, 'gu')
const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

/** Characters that XML does not have are printed as U+FFFD. The length stays. */
export const printableText = (text: string) => text.replace(notInXml, '\uFFFD')

/** Yjs clients can give nodes any name. An invalid one is printed as the nearest name that XML allows. */
export const printableName = (name: string) =>
  validName.test(name) ? name : `_${name.replace(notInNames, '_')}`

/** Yjs clients can give attributes any name. Invalid ones are not printed. */
export const printableAttributes = (attributes: readonly [string, string][]) =>
  attributes
    .filter(([name]) => validName.test(name) && name !== '__proto__')
    .map(([name, value]): [string, string] => [name, printableText(value)])
    .sort(byName)

/** Prints XML as Yjs does (attributes sorted, no `<p/>`), but escapes it and keeps the case of names. */
export const formatXml = (nodes: readonly XmlNode[]): string => nodes.map(formatNode).join('')

function formatNode(node: XmlNode): string {
  // A parser drops the character U+FEFF at the start of a text.
  if (typeof node === 'string') return escape(node, /[&<>\r\uFEFF]/g)
  const { name, attributes, children } = node
  const printed = attributes.map(([key, value]) => ` ${key}="${escape(value, /[&<>"\r\n\t]/g)}"`)
  return `<${name}${printed.join('')}>${formatXml(children)}</${name}>`
}

const escape = (text: string, special: RegExp) =>
  text.replace(special, (c) => entities[c] ?? `&#${c.charCodeAt(0)};`)
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
