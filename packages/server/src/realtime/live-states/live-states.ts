import type { Position } from '@plenum/protocol/realtime'
import type { readSince, Stored } from '../../store/documents/live-state-log.ts'
import { idOf, maxOfDocument } from '../../store/documents/live-states.ts'
import { RefFrames } from '../sockets/ref-frames.ts'

export interface LiveStateParts {
  /** What changes after that one have set; undefined if the document is gone. */
  read: (seq: number) => ReturnType<typeof readSince>
  /** Waits for another turn of the event loop. */
  pause?: () => Promise<void>
  /** The document is gone, or another one has its id. */
  gone: () => void
  failed: (error: unknown) => void
}

/** Who is told of changes. */
export interface LiveStateSubscriber {
  /**
   * There is a newer position; the frames hold what was set since that change. Undefined: that is large, and the
   * subscriber asks for it when it has a turn.
   */
  liveStatesChanged(frames: RefFrames | undefined, from: number): void
  /** Changes could not be read. */
  liveStatesLost(): void
}

/** Changes of this size are not copied into a frame for each ref. */
const largeBytes = 64 * 1024
/** Encoding 1 MiB takes up to 3 ms. */
const sliceMs = 5

interface Entry {
  seq: number
  /** The value as clients are sent it: a `LiveStateValue` as JSON. */
  bytes: Buffer
}

/**
 * The live states of an open document, as far as they have been told. They are read from the store in the order of their
 * numbers, whoever set them, so that no position covers a change that was not told.
 */
export class LiveStates {
  readonly #parts: LiveStateParts
  readonly #subscribers = new Set<LiveStateSubscriber>()
  readonly #entries = new Map<string, Entry>()
  #position: Position | undefined
  #bytes = 0
  #shared: { since: number; until: number | undefined; bytes: WeakRef<Buffer> } | undefined
  #reading: Promise<void> | undefined
  /** Something was set since the reading began. */
  #isStale = false
  /** Counts how often everything was forgotten: what was being read then is of no use. */
  #forgotten = 0

  constructor(parts: LiveStateParts) {
    this.#parts = parts
  }

  /** Undefined until they are loaded. */
  get position(): Position | undefined {
    return this.#position
  }

  /** Whether a client may set a value of that size. What backends have stored counts, but is not refused. */
  hasRoomFor(liveStateDataId: string, bytes: number, merge: boolean): boolean {
    const known = this.#entries.get(liveStateDataId)
    if (!known && this.#entries.size >= maxOfDocument.states) return false
    const replaced = merge ? 0 : (known?.bytes.length ?? 0)
    return this.#bytes - replaced + bytes <= maxOfDocument.bytes
  }

  async load(): Promise<void> {
    if (!this.#position) await (this.#reading ?? this.#read())
  }

  subscribe(subscriber: LiveStateSubscriber): void {
    this.#subscribers.add(subscriber)
  }

  unsubscribe(subscriber: LiveStateSubscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /**
   * The values that changes after that one have set, as a JSON array. The bytes of the latest call are shared as long as
   * somebody needs them.
   */
  bytesSince(seq: number): Buffer {
    const until = this.#position?.seq
    const shared = this.#shared
    const known = shared?.since === seq && shared.until === until ? shared.bytes.deref() : undefined
    if (known) return known
    const parts: Buffer[] = []
    for (const entry of this.#entries.values()) {
      if (entry.seq > seq) parts.push(parts.length === 0 ? opening : comma, entry.bytes)
    }
    const bytes = Buffer.concat(parts.length === 0 ? [opening, closing] : [...parts, closing])
    this.#shared = { since: seq, until, bytes: new WeakRef(bytes) }
    return bytes
  }

  /** Somebody has stored something. */
  changed(): void {
    if (this.#reading) this.#isStale = true
    else if (this.#subscribers.size === 0) this.forget()
    else void this.#read().catch(() => this.#lost())
  }

  /** Whoever asks next gets what is stored then. */
  forget(): void {
    this.#forgotten++
    this.#entries.clear()
    this.#position = undefined
    this.#bytes = 0
    this.#shared = undefined
    this.#reading = undefined
  }

  #read(): Promise<void> {
    const reading = this.#readUntilCurrent().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    reading.catch(this.#parts.failed)
    this.#reading = reading
    return reading
  }

  async #readUntilCurrent(): Promise<void> {
    const forgotten = this.#forgotten
    do {
      this.#isStale = false
      const read = await this.#parts.read(this.#position?.seq ?? 0)
      if (forgotten !== this.#forgotten) return
      if (!read || (this.#position && this.#position.epoch !== read.position.epoch)) return this.#parts.gone()
      const entries = await this.#encode(read.states)
      if (forgotten !== this.#forgotten) return
      this.#take(entries, read.position)
    } while (this.#isStale)
  }

  async #encode(states: readonly Stored[]): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    let pausedAt = performance.now()
    for (const state of states) {
      if (performance.now() - pausedAt > sliceMs) {
        await this.#parts.pause?.()
        pausedAt = performance.now()
      }
      entries.set(state.liveStateDataId, { seq: state.seq, bytes: encode(state) })
    }
    return entries
  }

  #take(entries: ReadonlyMap<string, Entry>, position: Position): void {
    const from = this.#position?.seq ?? 0
    this.#position = position
    let changedBytes = 0
    for (const [id, entry] of entries) {
      changedBytes += entry.bytes.length
      this.#bytes += entry.bytes.length - (this.#entries.get(id)?.bytes.length ?? 0)
      this.#entries.set(id, entry)
    }
    if (this.#subscribers.size === 0 || position.seq === from) return
    const fields = `"position":${JSON.stringify(position)},"states":`
    const frames =
      changedBytes < largeBytes ? new RefFrames('liveState', fields, this.bytesSince(from)) : undefined
    for (const subscriber of this.#subscribers) subscriber.liveStatesChanged(frames, from)
  }

  #lost(): void {
    for (const subscriber of this.#subscribers) subscriber.liveStatesLost()
    this.forget()
  }
}

const [opening, comma, closing] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

/** The value itself is JSON already, and may be large. */
function encode({ liveStateDataId, json, userId, lastUpdated }: Stored): Buffer {
  const id = JSON.stringify(idOf(liveStateDataId))
  const name = JSON.stringify(liveStateDataId)
  const user = JSON.stringify(userId)
  return Buffer.from(
    `{"id":${id},"liveStateDataId":${name},"data":${json},"lastUpdated":${lastUpdated},"updatedBy":{"userId":${user}}}`,
  )
}
