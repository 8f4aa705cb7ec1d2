import type { ServerResponse } from 'node:http'
import { ApiError } from '@plenum/protocol'

const MiB = 1024 * 1024

/** Answers in progress for one user of an API key. Backends are not bound by it. */
const maxOfUser = 4
/** Bytes of answers that clients have not taken yet: one API key, all of them. Those of sockets have the same bounds. */
const maxBytesOfKey = 64 * MiB
const maxBytes = 256 * MiB
/** A client that takes nothing for so long is disconnected. */
const maxStandstillMs = 10_000

export interface Reader {
  apiKey: string
  /** Undefined: a backend. */
  userId: string | undefined
}

/** Bounds what answers with whole documents take of the memory, however slowly clients read them. */
export class WholeDocuments {
  readonly #bytesOfKey = new Map<string, number>()
  readonly #answersOfUser = new Map<string, number>()
  #bytes = 0

  /** Reads a document and counts its bytes until the response ends. Throws an `ApiError` beyond the bounds. */
  async read(reader: Reader, response: ServerResponse, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    // A client that is gone already never closes again, so what is counted for it would stay.
    if (response.destroyed) return new Uint8Array()
    const { apiKey, userId } = reader
    const user = userId === undefined ? undefined : JSON.stringify([apiKey, userId])
    if (user !== undefined) {
      if ((this.#answersOfUser.get(user) ?? 0) >= maxOfUser) throw tooMany()
      add(this.#answersOfUser, user, 1)
      response.once('close', () => add(this.#answersOfUser, user, -1))
    }
    if (this.#isFull(apiKey)) throw tooMany()
    const document = await load()
    if (this.#isFull(apiKey)) throw tooMany()
    if (response.destroyed) return document
    this.#count(apiKey, document.length)
    response.once('close', () => this.#count(apiKey, -document.length))
    response.setTimeout(maxStandstillMs, () => response.destroy())
    return document
  }

  #isFull(apiKey: string): boolean {
    return this.#bytes >= maxBytes || (this.#bytesOfKey.get(apiKey) ?? 0) >= maxBytesOfKey
  }

  #count(apiKey: string, bytes: number): void {
    this.#bytes += bytes
    add(this.#bytesOfKey, apiKey, bytes)
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

const tooMany = () =>
  new ApiError('RESOURCE_EXHAUSTED', 'Too many documents are being read at the same time.', {
    retryAfterSeconds: 1,
  })
