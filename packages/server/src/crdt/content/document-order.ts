import * as Y from 'yjs'
import { contentOf, type SharedType, typeIn } from './units.ts'

/** A place in a root. */
export interface Place {
  /** The type that has the place, and the index in its list. */
  type: SharedType
  index: number
  /** How many units of the root are before it. */
  order: number
  /** How many characters of the root's text are before it. */
  offset: number
}

/** Called in document order. The place is the same object in all calls, so what is kept must be copied. */
export interface Visitor {
  /** Before each item of a list. Deleted items are visited too, but not what was in them. */
  onItem?(item: Y.Item, place: Readonly<Place>): void
  /** Before the first item of a list and after the last one. */
  onStart?(type: SharedType, place: Readonly<Place>): void
  onEnd?(type: SharedType, place: Readonly<Place>): void
  /** After the item that contains the type. The place is in the list around it. */
  onLeave?(type: SharedType, place: Readonly<Place>): void
}

/** Stands for a value that is not text, such as an image. So the length of a text is the number of its units. */
const notText = '\uFFFC'

/**
 * Walks through everything in a root once and returns its text. Blocks, such as paragraphs, are separated by line breaks.
 * Types in maps come last. A loop, not a recursion: clients decide how deep types are nested.
 */
export function walk(root: SharedType, visitor: Visitor): string {
  const pieces: string[] = []
  const place: Place = { type: root, index: 0, order: 0, offset: 0 }
  let block: object | null = null
  const write = (text: string) => {
    pieces.push(text)
    place.offset += text.length
  }

  const trees = [root]
  const around: { type: SharedType; index: number; next: Y.Item | null }[] = []
  const enter = (type: SharedType): Y.Item | null => {
    if (type instanceof Y.Text) {
      const before = block
      block = type.parent instanceof Y.XmlElement ? type.parent : type
      if (before !== null && before !== block) write('\n')
    }
    const { first, entries } = contentOf(type)
    for (const item of entries.values()) {
      const inside = item.deleted ? null : typeIn(item)
      if (inside) trees.push(inside)
    }
    place.type = type
    place.index = 0
    visitor.onStart?.(type, place)
    return first
  }

  for (const tree of trees) {
    let next = enter(tree)
    for (;;) {
      const item = next
      if (item === null) {
        const { type } = place
        visitor.onEnd?.(type, place)
        const outer = around.pop()
        if (!outer) break
        place.type = outer.type
        place.index = outer.index
        next = outer.next
        visitor.onLeave?.(type, place)
        continue
      }
      next = item.right
      visitor.onItem?.(item, place)
      if (item.deleted || !item.countable) continue
      place.index += item.length
      place.order += item.length
      const inside = typeIn(item)
      if (inside) {
        around.push({ type: place.type, index: place.index, next })
        next = enter(inside)
      } else {
        write(item.content instanceof Y.ContentString ? item.content.str : notText.repeat(item.length))
      }
    }
  }
  return pieces.join('')
}
