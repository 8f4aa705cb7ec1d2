import { TimeLimit } from '../../../platform/turns/time-limit.ts'
import type { MessageOf } from '../../messages/message.ts'
import { textMessage } from '../../sockets/frames.ts'
import type { JsonHost } from './host.ts'
import { JsonRequest } from './request.ts'

/** Calls of one connection that run at the same time. Further calls wait in their order. */
const maxRunning = 8

/** Called after the result was sent. */
type OnAnswer = (operation: string, input: string, result: Buffer) => void

/** The operations that a client at `/realtime` calls. */
export class JsonCalls {
  readonly #host: JsonHost
  readonly #onAnswer: OnAnswer
  /** Of the calls that have no answer yet. */
  readonly #limits = new Set<TimeLimit>()
  #running = 0
  #waiting: (() => void)[] | undefined

  constructor(host: JsonHost, onAnswer: OnAnswer) {
    this.#host = host
    this.#onAnswer = onAnswer
  }

  run(message: MessageOf<'call'>, bytes: number): void {
    const request = new JsonRequest<'call'>(this.#host, message, bytes)
    const limit = new TimeLimit({ clock: this.#host.clock, onOver: (error) => request.refuse(error) })
    this.#limits.add(limit)
    const start = () => {
      this.#running++
      void this.#call(message, bytes, request, limit).finally(() => {
        this.#limits.delete(limit)
        this.#running--
        this.#waiting?.shift()?.()
      })
    }
    if (this.#running < maxRunning) start()
    else (this.#waiting ??= []).push(start)
  }

  async #call(
    message: MessageOf<'call'>,
    bytes: number,
    request: JsonRequest<'call'>,
    limit: TimeLimit,
  ): Promise<void> {
    const { services, identity, connection } = this.#host
    const { id, operation, input, idempotencyKey } = message
    const { abandoned } = limit
    if (abandoned.aborted) return
    const call = { operation, input, idempotencyKey, bytes, abandoned }
    const answer = await services.calls.run(identity, call)
    if (abandoned.aborted) {
      if ('result' in answer) answer.onSent?.()
      return
    }
    limit.onAnswered()
    if ('error' in answer) return request.refuse(answer.error)
    request.drop()
    const { apiKey, userId } = identity
    const { result, onSent } = answer
    const frame = textMessage(Buffer.from(`{"type":"done","id":${id},"result":`), result, Buffer.from('}'))
    connection.answer(frame, { apiKey, userId, body: result, isHeld: () => false })
    onSent?.()
    this.#onAnswer(operation, input, result)
  }

  /** The client has disconnected. */
  closeAll(): void {
    for (const limit of this.#limits) limit.onCallerGone()
  }
}
