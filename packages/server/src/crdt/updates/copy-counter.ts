import { contentRefs } from './update-contents.ts'

/** Counts the values that Yjs copies while it joins neighbouring array items (see `Bounds.copies`). */
export class CopyCounter {
  total = 0
  /** With how many items before it Yjs joins the item that was added last. */
  private joinCount = 0
  /** The kind of content of that item. */
  private lastRef: number = contentRefs.gc

  /** Call it before the structs of another client. */
  beginClient(): void {
    this.joinCount = 0
    this.lastRef = contentRefs.gc
  }

  /** `isNext`: the item continues the item before it. */
  add(ref: number, length: number, isNext: boolean): void {
    const joins = isNext && ref === this.lastRef && (ref === contentRefs.any || ref === contentRefs.json)
    this.joinCount = joins ? this.joinCount + 1 : 0
    this.lastRef = ref
    this.total += this.joinCount * length
  }
}
