import type { ServerResponse } from 'node:http'
import { ApiError } from '@plenum/protocol'
import type { UnsentAnswers } from '../../platform/turns/unsent-answers.ts'
import { countUntilSent } from '../unsent-bodies.ts'

/** Documents that are being sent to one user of an API key. Backends have no such limit. */
const maxAnswersPerUser = 4

export interface Reader {
  apiKey: string
  /** Undefined: a backend. */
  userId: string | undefined
}

/** Limits the memory of answers that contain a whole document, because clients may read them slowly. */
export class WholeDocuments {
  /** Shared with the large answers on sockets: the limits apply to both together. */
  readonly #unsent: UnsentAnswers
  readonly #answersByUser = new Map<string, number>()

  constructor(unsent: UnsentAnswers) {
    this.#unsent = unsent
  }

  /** Loads a document, and counts its bytes until the response is closed. Throws an `ApiError` above a limit. */
  async read(reader: Reader, response: ServerResponse, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    // A response that is already closed emits no second `close`, so the document would be counted forever.
    if (response.destroyed) return new Uint8Array()
    const { apiKey, userId } = reader
    const user = userId === undefined ? undefined : JSON.stringify([apiKey, userId])
    if (user !== undefined) {
      if ((this.#answersByUser.get(user) ?? 0) >= maxAnswersPerUser) throw tooMany()
      add(this.#answersByUser, user, 1)
      response.once('close', () => add(this.#answersByUser, user, -1))
    }
    if (this.#isFull(apiKey)) throw tooMany()
    const document = await load()
    if (!this.#fits(apiKey, document)) throw tooMany()
    // Without `cut`, because a response that stalls is closed by its own timeout.
    countUntilSent(this.#unsent, response, { apiKey, userId: userId ?? '', body: document })
    return document
  }

  #isFull(apiKey: string): boolean {
    return !this.#unsent.hasSpaceFor(apiKey, 1)
  }

  /** LIMIT_EDITOR_BYTES may exceed the limit of an API key. Such a document is sent only if the key has no unsent bytes. */
  #fits(apiKey: string, { length }: Uint8Array): boolean {
    if (this.#unsent.hasSpaceFor(apiKey, length)) return true
    return !this.#isFull(apiKey) && this.#unsent.isEmpty(apiKey)
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
