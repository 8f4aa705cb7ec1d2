import type { EditorLog } from '../../store/editors/log.ts'

interface Part {
  /** The number of the newest row in the part. */
  seq: number
  bytes: Uint8Array
}

/** The durable log of an editor, as far as it was broadcast: a snapshot and the rows after it, in order. */
export class CommittedLog {
  #parts: Part[]
  #snapshotBytes: number
  /** The number of the newest row in the snapshot. */
  snapshotSeq: number
  /** How many rows are stored after the snapshot, and their bytes. A merge in memory does not change these numbers. */
  tail = { updates: 0, bytes: 0 }

  constructor(stored: EditorLog | undefined) {
    this.#parts = stored?.updates.map(({ seq, bytes }) => ({ seq, bytes })) ?? []
    if (stored?.snapshot) this.#parts.unshift({ seq: stored.snapshotSeq, bytes: stored.snapshot })
    this.#snapshotBytes = stored?.snapshot?.length ?? 0
    this.snapshotSeq = stored?.snapshotSeq ?? 0
    for (const { bytes } of stored?.updates ?? []) this.#countRow(bytes)
    this.#seq = stored?.seq ?? 0
  }

  #seq: number

  /** The number of the newest row. */
  get seq(): number {
    return this.#seq
  }

  /** How many bytes are stored, in the snapshot and in the rows. */
  get bytes(): number {
    return this.#snapshotBytes + this.tail.bytes
  }

  get snapshotBytes(): number {
    return this.#snapshotBytes
  }

  get parts(): Uint8Array[] {
    return this.#parts.map(({ bytes }) => bytes)
  }

  /** The parts that contain rows after `seq`. */
  partsAfter(seq: number): Uint8Array[] {
    return this.#parts.filter((part) => part.seq > seq).map(({ bytes }) => bytes)
  }

  /** Whether this array itself, not only an equal array, is one of the parts. */
  has(part: Uint8Array): boolean {
    return this.#parts.some(({ bytes }) => bytes === part)
  }

  append(seq: number, bytes: Uint8Array): void {
    this.#seq = seq
    this.#parts.push({ seq, bytes })
    this.#countRow(bytes)
  }

  #countRow(bytes: Uint8Array): void {
    this.tail.updates++
    this.tail.bytes += bytes.length
  }

  /** Replaces the parts up to `seq` by their merge, so that the next client does not wait for a merge again. */
  replaceWithMerged(seq: number, merged: Uint8Array): void {
    const later = this.#parts.filter((part) => part.seq > seq)
    // If a compaction came first, there is one part up to `seq`: the snapshot, which may be smaller than the merge.
    if (this.#parts.length - later.length > 1) this.#parts = [{ seq, bytes: merged }, ...later]
  }

  /** A snapshot replaced the stored rows up to `seq`. */
  replaceWithSnapshot(seq: number, snapshot: Uint8Array): void {
    const later = this.#parts.filter((part) => part.seq > seq)
    this.#parts = [{ seq, bytes: snapshot }, ...later]
    this.#snapshotBytes = snapshot.length
    this.snapshotSeq = seq
    this.tail = { updates: later.length, bytes: later.reduce((sum, { bytes }) => sum + bytes.length, 0) }
  }
}
