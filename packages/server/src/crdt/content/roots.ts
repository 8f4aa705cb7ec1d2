import * as Y from 'yjs'
import { UnfitContent } from './errors.ts'

export type ContentType = 'text' | 'map' | 'array' | 'xml'

/** What an editor is declared to hold; null where nobody has declared it. */
export interface Contents {
  type: ContentType | null
  contentKey: string | null
}

/** Names that bindings use by default, or in their guides: Tiptap, Lexical, y-prosemirror and so on. */
const usualKeys = [
  'content',
  'default',
  'root',
  'prosemirror',
  'quill',
  'codemirror',
  'monaco',
  'document-store',
]

/**
 * The root that is read, and its type; null where nothing tells. A declared root in which nobody has ever written gives
 * way to one that a binding uses by default, and to the only root that there is. A root that was emptied is still read, so
 * that deleting all of a text does not show another root.
 */
export const locate = (doc: Y.Doc, declared: Contents): Contents =>
  find(doc, declared, declared.contentKey === null || doc.share.size === 1)

/** Without `anyName`, only the declared root and those that bindings use by default. */
function find(doc: Y.Doc, declared: Contents, anyName: boolean): Contents {
  const candidates = [declared.contentKey, ...usualKeys]
  if (anyName) candidates.push([...doc.share.keys()].sort()[0] ?? null)
  const contentKey = candidates.find((name) => isWritten(doc, name)) ?? declared.contentKey
  return { type: contentKey === null ? declared.type : typeAt(doc, contentKey, declared), contentKey }
}

/**
 * The root that a write or a later declaration means: the one that it names, or the one that is read, unless that has a
 * name of its own: the editor may get several roots, and a write would replace the content of the wrong one. Throws
 * `UnfitContent` if the declared root holds content and another one is named, or if the root holds content of another
 * type.
 */
export function choose(doc: Y.Doc, declared: Contents, sent: Partial<Contents>): string {
  const read = find(doc, declared, declared.contentKey === null)
  const contentKey = sent.contentKey ?? read.contentKey ?? 'content'
  const kept = declared.contentKey ?? read.contentKey
  if (kept !== null && kept !== contentKey && hasContent(doc, kept)) {
    throw new UnfitContent(otherKey(doc, declared, kept, contentKey))
  }
  const type = typeAt(doc, contentKey, declared)
  if (sent.type && sent.type !== type && hasContent(doc, contentKey)) {
    throw new UnfitContent(`Type does not match the stored data: "${contentKey}" holds ${type}.`)
  }
  return contentKey
}

function otherKey(doc: Y.Doc, declared: Contents, kept: string, sent: string): string {
  const holds = (key: string) => `holds ${typeAt(doc, key, declared)}`
  const isDeclared = declared.contentKey === null ? '' : 'is declared and '
  const other = hasContent(doc, sent) ? `, "${sent}" ${holds(sent)}` : ''
  return (
    `Content key does not match the stored data: "${kept}" ${isDeclared}${holds(kept)}${other}. ` +
    `Empty "${kept}" before you declare another one.`
  )
}

/** Only what an update has brought is in `share`: nothing else has asked a loaded document for roots. */
const isWritten = (doc: Y.Doc, name: string | null) => name !== null && doc.share.has(name)

/** The declared type counts for the declared root, unless that one holds only content of another type. */
function typeAt(doc: Y.Doc, contentKey: string, { type, ...declared }: Contents): ContentType | null {
  const shown = inferType(doc, contentKey)
  if (type === null || shown === null) return shown ?? type
  const isDeclared = declared.contentKey === null || declared.contentKey === contentKey
  const fits = !hasContent(doc, contentKey) || hasContentOf(doc, contentKey, type)
  return isDeclared && fits ? type : shown
}

/** What the root of that name holds, as its first content shows; null if it has none. */
function inferType(doc: Y.Doc, contentKey: string): ContentType | null {
  const root = doc.share.get(contentKey)
  if (!root) return null
  const [item] = itemsOf(root)
  // One whose entries were all deleted was a map.
  if (!item) return entriesOf(root).length > 0 ? 'map' : null
  if (isXml(item)) return 'xml'
  return isText(item) ? 'text' : 'array'
}

function hasContent(doc: Y.Doc, contentKey: string): boolean {
  const root = doc.share.get(contentKey)
  if (!root) return false
  for (const item of itemsOf(root)) if (item.countable) return true
  return hasEntries(root)
}

function hasContentOf(doc: Y.Doc, contentKey: string, type: ContentType): boolean {
  const root = doc.share.get(contentKey)
  if (!root) return false
  if (type === 'map') return hasEntries(root)
  for (const item of itemsOf(root)) if (isOfList[type](item)) return true
  return false
}

type Root = Pick<Y.AbstractType<never>, '_start' | '_map'>

function* itemsOf({ _start: first }: Root): Generator<Y.Item> {
  for (let item = first; item; item = item.right) if (!item.deleted) yield item
}

/** Also those that were deleted. */
const entriesOf = ({ _map: entries }: Root) => [...entries.values()]

const hasEntries = (root: Root) => entriesOf(root).some(({ deleted }) => !deleted)

const isText = ({ content }: Y.Item) =>
  [Y.ContentString, Y.ContentFormat, Y.ContentEmbed].some((kind) => content instanceof kind)

const isXml = ({ content }: Y.Item) =>
  content instanceof Y.ContentType &&
  [Y.XmlFragment, Y.XmlText, Y.XmlHook].some((kind) => content.type instanceof kind)

const isOfList = { text: isText, xml: isXml, array: (item: Y.Item) => !isText(item) }
