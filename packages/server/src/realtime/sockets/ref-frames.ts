import { textFrame } from './frames.ts'

/**
 * Clients choose their refs, so there may be as many refs as clients. Frames for further refs are encoded for each client.
 * Most clients have few documents and low refs.
 */
const maxKeptFrames = 64

/** One message about a document to many clients, each under the `ref` that the client chose. Encoded once per ref. */
export class RefFrames {
  readonly #type: string
  readonly #rest: Buffer
  readonly #frames = new Map<number, Buffer>()

  /** `fields`: all fields but `type` and `ref`, as JSON without braces. `lastValue`: JSON that follows `fields`. */
  constructor(type: string, fields: string, lastValue: Uint8Array = Buffer.alloc(0)) {
    this.#type = type
    this.#rest = Buffer.concat([Buffer.from(`,${fields}`), lastValue, Buffer.from('}')])
  }

  of(ref: number): Buffer {
    let frame = this.#frames.get(ref)
    if (!frame) {
      frame = textFrame(`{"type":"${this.#type}","ref":${ref}`, this.#rest)
      if (this.#frames.size < maxKeptFrames) this.#frames.set(ref, frame)
    }
    return frame
  }
}
