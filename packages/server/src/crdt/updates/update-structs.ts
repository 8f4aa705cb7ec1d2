import { contentRefs, readContent, type ValueBounds } from './update-contents.ts'
import { UpdateReader } from './update-reader.ts'

/** Stands in place of a Yjs client id where a struct has no reference. */
export const noClient = -1

/** Reads the structs of an update one by one. The fields describe the struct that was read last. */
export class StructReader extends UpdateReader {
  /** The kind of its content, one of `contentRefs`. */
  ref: number = contentRefs.gc
  /** By how much the struct advances the clock. */
  length = 0
  /**
   * The Yjs client id of the item at `leftClock`: the left neighbour that the struct had when it was created or, if
   * `isChild`, the struct's parent.
   */
  leftClient = noClient
  leftClock = 0
  rightClient = noClient
  rightClock = 0
  /** Whether the struct names an item as its parent. Otherwise it names neighbours or a root type. */
  isChild = false
  /** Whether the struct names the key whose value it is. */
  isEntry = false

  readStruct(bounds: ValueBounds): void {
    const info = this.byte()
    this.ref = info & 31
    this.leftClient = noClient
    this.rightClient = noClient
    this.isChild = false
    this.isEntry = false
    if (this.ref === contentRefs.gc || this.ref === contentRefs.skip) {
      this.length = this.uint()
    } else {
      this.readLinks(info, bounds)
      this.length = readContent(this, this.ref, bounds)
    }
  }

  private readLinks(info: number, bounds: ValueBounds): void {
    const hasLeft = (info & 0x80) !== 0
    const hasRight = (info & 0x40) !== 0
    const namesParent = !hasLeft && !hasRight
    if (namesParent) {
      this.isChild = this.uint() !== 1
      if (!this.isChild) this.key(bounds.nameLength)
    }
    if (hasLeft || this.isChild) {
      this.leftClient = this.uint()
      this.leftClock = this.uint()
    }
    if (hasRight) {
      this.rightClient = this.uint()
      this.rightClock = this.uint()
    }
    if (namesParent && (info & 0x20) !== 0) {
      this.isEntry = true
      this.key(bounds.nameLength)
    }
  }
}
