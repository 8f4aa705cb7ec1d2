import type { Position } from '@plenum/protocol/realtime'
import * as stored from '../store/live-states.ts'
import { RefFrames } from './ref-frames.ts'

export interface LiveStateParts {
  /** What changes after that one have set; undefined if the document is gone. */
  read: (seq: number) => ReturnType<typeof stored.readSince>
  /** The document is gone, or another one has its id. */
  gone: () => void
  failed: (error: unknown) => void
}

/** Who is told of changes. */
export interface LiveStateSubscriber {
  /** There is a newer position; the frames hold what was set since that change. */
  liveStatesChanged(frames: RefFrames, from: number): void
  /** Changes could not be read. */
  liveStatesLost(): void
}

/** All that clients may set in a document: whoever opens it is sent everything. */
const most = { states: 1_000, bytes: 16 * 1024 * 1024 }

interface Entry {
  seq: number
  /** The value as clients are sent it. */
  json: string
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
    if (!known && this.#entries.size >= most.states) return false
    const replaced = merge ? 0 : (known?.json.length ?? 0)
    return this.#bytes - replaced + bytes <= most.bytes
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

  /** The values that changes after that one have set, as JSON. */
  since(seq: number): string {
    const states: string[] = []
    for (const entry of this.#entries.values()) if (entry.seq > seq) states.push(entry.json)
    return `[${states.join()}]`
  }

  /** The same, ready to be sent; the bytes of the latest call are shared as long as somebody needs them. */
  bytesSince(seq: number): Buffer {
    const until = this.#position?.seq
    const shared = this.#shared
    const known = shared?.since === seq && shared.until === until ? shared.bytes.deref() : undefined
    if (known) return known
    const bytes = Buffer.from(this.since(seq))
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
      this.#take(read.states, read.position)
    } while (this.#isStale)
  }

  #take(states: readonly stored.Stored[], position: Position): void {
    const from = this.#position?.seq ?? 0
    this.#position = position
    for (const state of states) {
      const json = jsonOf(state)
      this.#bytes += json.length - (this.#entries.get(state.liveStateDataId)?.json.length ?? 0)
      this.#entries.set(state.liveStateDataId, { seq: state.seq, json })
    }
    if (this.#subscribers.size === 0 || position.seq === from) return
    const values = states.length === 0 ? '[]' : this.since(from)
    const frames = new RefFrames('liveState', `"position":${JSON.stringify(position)},"states":${values}`)
    for (const subscriber of this.#subscribers) subscriber.liveStatesChanged(frames, from)
  }

  #lost(): void {
    for (const subscriber of this.#subscribers) subscriber.liveStatesLost()
    this.forget()
  }
}

/** A `LiveStateValue`. The value itself is JSON already, and may be large. */
function jsonOf({ liveStateDataId, json, userId, lastUpdated }: stored.Stored): string {
  const id = JSON.stringify(stored.idOf(liveStateDataId))
  const name = JSON.stringify(liveStateDataId)
  const user = JSON.stringify(userId)
  return `{"id":${id},"liveStateDataId":${name},"data":${json},"lastUpdated":${lastUpdated},"updatedBy":{"userId":${user}}}`
}
