import { textFrame } from './frames.ts'

/** A message to many clients who differ only in the `ref` that each has for the document; framed once for each ref. */
export class RefFrames {
  readonly #type: string
  readonly #fields: string
  readonly #frames = new Map<number, Buffer>()

  /** `fields`: the others, as JSON without the braces. */
  constructor(type: string, fields: string) {
    this.#type = type
    this.#fields = fields
  }

  of(ref: number): Buffer {
    let frame = this.#frames.get(ref)
    if (!frame) {
      frame = textFrame(`{"type":"${this.#type}","ref":${ref},${this.#fields}}`)
      this.#frames.set(ref, frame)
    }
    return frame
  }
}
