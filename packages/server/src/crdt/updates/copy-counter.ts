import { contentRefs } from './update-contents.ts'

/** Counts the values that Yjs copies while it joins neighbouring array items (see `Bounds.copies`). */
export class CopyCounter {
  total = 0
  /** How many earlier items Yjs joins with the item that was added last. */
  private joinCount = 0
  /** The kind of content of the item that was added last. */
  private lastRef: number = contentRefs.gc

  /** Call it before you add the structs of another client. */
  beginClient(): void {
    this.joinCount = 0
    this.lastRef = contentRefs.gc
  }

  /** `isNext`: the left neighbour of the item is the item that was added last. */
  add(ref: number, length: number, isNext: boolean): void {
    const joins = isNext && ref === this.lastRef && (ref === contentRefs.any || ref === contentRefs.json)
    this.joinCount = joins ? this.joinCount + 1 : 0
    this.lastRef = ref
    this.total += this.joinCount * length
  }
}
