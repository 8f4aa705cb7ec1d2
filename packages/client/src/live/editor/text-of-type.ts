import * as Y from 'yjs'

/** Any shared type of Yjs: a text, an array, an XML element or fragment, or a map. */
// oxlint-disable-next-line typescript/no-explicit-any -- Yjs types are not covariant in their events.
export type SharedType = Y.AbstractType<any>

/** A place in a shared type, before the character or value with this index. */
export interface EditorPlace {
  readonly type: SharedType
  readonly index: number
}

/** The item that contains a type. Null: the type is a root. */
export const itemOf = ({ _item: item }: SharedType) => item

/** The content of any type: a list, and the newest item of each key. */
const contentOf = ({ _start: first, _map: entries }: SharedType) => ({ first, entries })

/** Neighbours in the list of a type, or its end, with what is before them in the document. */
interface Stretch {
  type: SharedType
  index: number
  /** 0 at the end of the list. */
  length: number
  /** How many characters it has in the text. A type has none: what is in it follows. */
  characters: number
  /** How many characters of the text are before it. */
  offset: number
  /** How many characters and values are before it. */
  order: number
}

/** Stands for a value that is not text, such as an image. The server writes the same into the texts of ranges. */
const notText = '\uFFFC'

/** The text in a shared type and the types in it, with a line break between blocks such as paragraphs. */
export class TextOfType {
  readonly text: string
  readonly #stretches: Stretch[] = []

  constructor(root: SharedType) {
    let text = ''
    let order = 0
    let block: object | undefined
    const read = (type: SharedType) => {
      if (type !== root && type instanceof Y.Text) {
        const before = block
        block = type.parent instanceof Y.XmlElement ? type.parent : type
        if (before && before !== block) text += '\n'
      }
      let index = 0
      const add = (length: number, characters: number) =>
        this.#stretches.push({ type, index, length, characters, offset: text.length, order })
      const { first, entries } = contentOf(type)
      for (let item = first; item; item = item.right) {
        if (item.deleted || !item.countable) continue
        const { content, length } = item
        const inside = content instanceof Y.ContentType ? content.type : undefined
        add(length, inside ? 0 : length)
        index += length
        order += length
        if (inside) read(inside)
        else text += content instanceof Y.ContentString ? content.str : notText.repeat(length)
      }
      add(0, 0)
      for (const { deleted, content } of entries.values()) {
        if (!deleted && content instanceof Y.ContentType) inMaps.push(content.type)
      }
    }
    const inMaps = [root]
    for (const type of inMaps) read(type)
    this.text = text
  }

  /** Where a place is in the text and among all places. Undefined: it is not in the type. */
  find({ type, index }: EditorPlace): Pick<Stretch, 'offset' | 'order'> | undefined {
    const found = this.#stretches.find(
      (one) => one.type === type && index >= one.index && index < one.index + (one.length || 1),
    )
    if (!found) return undefined
    const units = index - found.index
    return { offset: found.offset + units, order: found.order + units }
  }

  /** The place before the character with this offset. Undefined: it is a line break between blocks. */
  placeAt(offset: number): EditorPlace | undefined {
    const found = this.#stretches.findLast((one) => one.characters > 0 && one.offset <= offset)
    if (!found || offset >= found.offset + found.characters) return undefined
    return { type: found.type, index: found.index + offset - found.offset }
  }
}
