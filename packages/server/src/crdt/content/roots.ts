import * as Y from 'yjs'
import { UnfitContent } from './errors.ts'

export type ContentType = 'text' | 'map' | 'array' | 'xml'

/** The type and key of the root that an editor is declared to have its content in; null where not declared. */
export interface Contents {
  type: ContentType | null
  contentKey: string | null
}

/** Names of roots that bindings use by default or in their guides: Tiptap, Lexical, y-prosemirror and so on. */
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
 * The root that is read, and its type; null where unknown. If nobody has ever written in the declared root, a default root
 * of a binding or the only root is read instead. Without a declared key, that is a default root or the first root by name.
 * A root that was emptied is still read, so that deleting a whole text does not show another root.
 */
export const locateRoot = (doc: Y.Doc, declared: Contents): Contents =>
  findRoot(doc, declared, declared.contentKey === null || doc.share.size === 1)

/** Finds the root to read. Without `anyName`, it can only be the declared root or a default root of a binding. */
function findRoot(doc: Y.Doc, declared: Contents, anyName: boolean): Contents {
  const candidates = [declared.contentKey, ...usualKeys]
  if (anyName) candidates.push([...doc.share.keys()].sort()[0] ?? null)
  const contentKey = candidates.find((name) => isWritten(doc, name)) ?? declared.contentKey
  return { type: contentKey === null ? declared.type : typeAt(doc, contentKey, declared), contentKey }
}

/**
 * Returns the key of the root that a write or a later declaration refers to: the named root, or the root that is read. In
 * an editor with a declared key, a root that is read only because it is the only one is not used: the editor may get more
 * roots, and a write would replace the wrong one. Throws `UnfitContent` if another root is named although the declared root
 * has content (without a declared key: the root that is read), or if the returned root has content of another type.
 */
export function chooseRoot(doc: Y.Doc, declared: Contents, sent: Partial<Contents>): string {
  const read = findRoot(doc, declared, declared.contentKey === null)
  const contentKey = sent.contentKey ?? read.contentKey ?? 'content'
  const kept = declared.contentKey ?? read.contentKey
  if (kept !== null && kept !== contentKey && hasContent(doc, kept)) {
    throw new UnfitContent(otherKeyMessage(doc, declared, kept, contentKey))
  }
  const type = typeAt(doc, contentKey, declared)
  if (sent.type && sent.type !== type && hasContent(doc, contentKey)) {
    throw new UnfitContent(`Type does not match the stored data: "${contentKey}" holds ${type}.`)
  }
  return contentKey
}

function otherKeyMessage(doc: Y.Doc, declared: Contents, kept: string, sent: string): string {
  const holds = (key: string) => `holds ${typeAt(doc, key, declared)}`
  const isDeclared = declared.contentKey === null ? '' : 'is declared and '
  const other = hasContent(doc, sent) ? `, "${sent}" ${holds(sent)}` : ''
  return (
    `Content key does not match the stored data: "${kept}" ${isDeclared}${holds(kept)}${other}. ` +
    `Empty "${kept}" before you declare another one.`
  )
}

/** A loaded document has only the roots of its updates in `share`: nothing else has accessed roots. */
const isWritten = (doc: Y.Doc, name: string | null) => name !== null && doc.share.has(name)

/**
 * The declared type applies to the declared root, to every root if no key is declared, and to roots whose type cannot be
 * inferred. It does not apply to a root that has only content of another type.
 */
function typeAt(doc: Y.Doc, contentKey: string, { type, ...declared }: Contents): ContentType | null {
  const shown = inferType(doc, contentKey)
  if (type === null || shown === null) return shown ?? type
  const isDeclared = declared.contentKey === null || declared.contentKey === contentKey
  const fits = !hasContent(doc, contentKey) || hasContentOf(doc, contentKey, type)
  return isDeclared && fits ? type : shown
}

/** The type of a root, inferred from its first item or its entries. Returns null if it has neither. */
function inferType(doc: Y.Doc, contentKey: string): ContentType | null {
  const root = doc.share.get(contentKey)
  if (!root) return null
  const [item] = itemsOf(root)
  // `entriesOf` includes deleted entries, so a map whose entries were all deleted is still a map.
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

/** All entries of a root, including deleted ones. */
const entriesOf = ({ _map: entries }: Root) => [...entries.values()]

const hasEntries = (root: Root) => entriesOf(root).some(({ deleted }) => !deleted)

const isText = ({ content }: Y.Item) =>
  [Y.ContentString, Y.ContentFormat, Y.ContentEmbed].some((kind) => content instanceof kind)

const isXml = ({ content }: Y.Item) =>
  content instanceof Y.ContentType &&
  [Y.XmlFragment, Y.XmlText, Y.XmlHook].some((kind) => content.type instanceof kind)

const isOfList = { text: isText, xml: isXml, array: (item: Y.Item) => !isText(item) }
