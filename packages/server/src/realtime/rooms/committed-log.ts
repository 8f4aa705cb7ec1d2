import type { EditorLog } from '../../store/editors/log.ts'

interface Part {
  /** Number of the newest row in it. */
  seq: number
  bytes: Uint8Array
}

/** The stored bytes of an editor, as far as clients have been told: a snapshot and the rows after it, in order. */
export class CommittedLog {
  #parts: Part[]
  #snapshotBytes: number
  /** Rows since the snapshot, and their bytes, as they are stored. */
  tail = { updates: 0, bytes: 0 }

  constructor(stored: EditorLog | undefined) {
    this.#parts = stored?.updates.map(({ seq, bytes }) => ({ seq, bytes })) ?? []
    if (stored?.snapshot) this.#parts.unshift({ seq: stored.snapshotSeq, bytes: stored.snapshot })
    this.#snapshotBytes = stored?.snapshot?.length ?? 0
    for (const { bytes } of stored?.updates ?? []) this.#count(bytes)
    this.#seq = stored?.seq ?? 0
  }

  #seq: number

  /** Number of the newest row. */
  get seq(): number {
    return this.#seq
  }

  /** As many as are stored. */
  get bytes(): number {
    return this.#snapshotBytes + this.tail.bytes
  }

  get snapshotBytes(): number {
    return this.#snapshotBytes
  }

  get parts(): Uint8Array[] {
    return this.#parts.map(({ bytes }) => bytes)
  }

  /** The parts in which rows after that one lie. */
  partsAfter(seq: number): Uint8Array[] {
    return this.#parts.filter((part) => part.seq > seq).map(({ bytes }) => bytes)
  }

  /** Whether these very bytes are one of its parts. */
  holds(part: Uint8Array): boolean {
    return this.#parts.some(({ bytes }) => bytes === part)
  }

  append(seq: number, bytes: Uint8Array): void {
    this.#seq = seq
    this.#parts.push({ seq, bytes })
    this.#count(bytes)
  }

  #count(bytes: Uint8Array): void {
    this.tail.updates++
    this.tail.bytes += bytes.length
  }

  /** All parts up to that number have been put together; the next who asks need not wait for it again. */
  joined(seq: number, whole: Uint8Array): void {
    const later = this.#parts.filter((part) => part.seq > seq)
    // A compaction may have come first, and be smaller.
    if (this.#parts.length - later.length > 1) this.#parts = [{ seq, bytes: whole }, ...later]
  }

  /** A snapshot has taken the place of the rows up to that number. */
  compacted(seq: number, snapshot: Uint8Array): void {
    const later = this.#parts.filter((part) => part.seq > seq)
    this.#parts = [{ seq, bytes: snapshot }, ...later]
    this.#snapshotBytes = snapshot.length
    this.tail = { updates: later.length, bytes: later.reduce((sum, { bytes }) => sum + bytes.length, 0) }
  }
}
