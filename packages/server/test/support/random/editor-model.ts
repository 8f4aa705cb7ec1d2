import * as fc from 'fast-check'
import * as Y from 'yjs'

/** What an editor such as Tiptap stores, as plain data: blocks, and text with formats. */
export type Model = (Block | Text)[]

export interface Block {
  name: string
  attributes: Record<string, unknown>
  content: Model
}

export interface Text {
  characters: string
  formats: Record<string, unknown>
}

/** Stores a model as y-prosemirror does. */
export function docOf(model: Model, key: string): Y.Doc {
  const doc = new Y.Doc()
  doc.transact(() => insert(doc.getXmlFragment(key), model))
  return doc
}

function insert(parent: Y.XmlFragment, model: Model): void {
  for (const part of model) {
    if ('characters' in part) {
      const last = parent.length > 0 ? parent.get(parent.length - 1) : undefined
      const text = last instanceof Y.XmlText ? last : new Y.XmlText()
      if (text !== last) parent.push([text])
      // Yjs changes the object that it gets.
      text.insert(text.length, part.characters, { ...part.formats })
    } else {
      const element = new Y.XmlElement(part.name)
      parent.push([element])
      for (const [name, value] of Object.entries(part.attributes)) element.setAttribute(name, value as string)
      insert(element, part.content)
    }
  }
}

export const modelOf = (doc: Y.Doc, key: string): Model => contentOf(doc.getXmlFragment(key))

const contentOf = (parent: Y.XmlFragment): Model => {
  const model: Model = []
  for (const child of parent.toArray()) {
    if (child instanceof Y.XmlElement) {
      model.push({ name: child.nodeName, attributes: child.getAttributes(), content: contentOf(child) })
    } else if (child instanceof Y.XmlText) {
      for (const { insert, attributes = {} } of child.toDelta()) addText(model, insert, attributes)
    }
  }
  return model
}

/** Yjs divides a text where a format could begin. */
function addText(model: Model, characters: string, formats: Record<string, unknown>): void {
  const last = model.at(-1)
  if (last && 'characters' in last && sameFormats(last.formats, formats)) last.characters += characters
  else model.push({ characters, formats })
}

const sorted = (value: unknown) =>
  JSON.stringify(value, (_, inner) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  )
const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const sameFormats = (one: unknown, other: unknown) => sorted(one) === sorted(other)

/** The texts of a model, in their order. */
export const textsOf = (model: Model): Text[] =>
  model.flatMap((part) => ('characters' in part ? [part] : textsOf(part.content)))

// Few words and blocks, so that equal ones occur.
const word = fc.constantFrom('the', 'fox', 'jumps', 'über', '😀', '&', '<b>', '日本語', 'e\u0301', 'a\u00a0b')
const characters = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))

const link = { target: '_blank', rel: 'noopener nofollow', class: null }
const formats = fc.record(
  {
    bold: fc.constant({}),
    code: fc.constant({}),
    link: fc.constantFrom({ ...link, href: 'https://a?b&c' }, { ...link, href: '"x"' }),
    textStyle: fc.constantFrom({ color: 'red', fontSize: null }, { color: '#000', fontSize: 12 }),
    'comment--a+b/c9==': fc.constant({ id: 1 }),
    color: fc.constant('red'),
  },
  { requiredKeys: [] },
)
const text = fc.record({ characters, formats: fc.oneof(fc.constant({}), formats) })

const atom = fc.constantFrom<Block>(
  { name: 'hardBreak', attributes: {}, content: [] },
  { name: 'mention', attributes: { id: '42', label: 'Ada' }, content: [] },
  {
    name: 'image',
    attributes: { src: 'a.png', width: 120, ratio: 0.5, crop: { x: [1, null] } },
    content: [],
  },
)
const inline = fc
  .array(fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: atom }), { maxLength: 5 })
  .map((parts) => {
    const model: Model = []
    for (const part of parts) {
      if ('characters' in part) addText(model, part.characters, part.formats)
      else model.push(part)
    }
    return model
  })

const textBlock: fc.Arbitrary<Block> = fc
  .tuple(
    fc.constantFrom(
      { name: 'paragraph', attributes: {} },
      { name: 'paragraph', attributes: { textAlign: 'left', indent: 0 } },
      { name: 'heading', attributes: { level: 1 } },
      { name: 'heading', attributes: { level: 2 } },
      { name: 'codeBlock', attributes: { language: '1' } },
    ),
    inline,
  )
  .map(([block, content]) => ({ ...block, content }))

const block = fc.letrec<{ block: Block }>((tie) => ({
  block: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    textBlock,
    fc
      .tuple(
        fc.constantFrom(
          { name: 'blockquote', attributes: {} },
          { name: 'taskItem', attributes: { checked: true } },
          { name: 'taskItem', attributes: { checked: false } },
          { name: 'tableCell', attributes: { colspan: 1, colwidth: [100, 20] } },
        ),
        fc.array(tie('block'), { maxLength: 3 }),
      )
      .map(([outer, content]) => ({ ...outer, content })),
  ),
})).block

/** Random documents as Tiptap stores them. */
export const documents: fc.Arbitrary<Model> = fc.array(block, { maxLength: 6 })
