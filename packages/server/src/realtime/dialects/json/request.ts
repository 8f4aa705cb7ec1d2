import type { ErrorStatus } from '@plenum/protocol'
import type { clientMessages } from '@plenum/protocol/messages'
import type { DoneMessage } from '@plenum/protocol/realtime'
import type { Static } from 'typebox'
import type { Subject } from '../../messages/message.ts'
import type { JsonHost } from './host.ts'

type Messages = typeof clientMessages
/** The types of the messages that are requests. */
type RequestType = {
  [Type in keyof Messages]: Messages[Type] extends { done: object } ? Type : never
}[keyof Messages]
/** The fields of `done` that a request declares. */
export type Answer<Type extends RequestType> = Static<Messages[Type]['done']['fields']>

/** A request that waits for its answer. Its bytes hold the client back until it is answered or dropped, which happens once. */
export class JsonRequest<Type extends RequestType> {
  readonly #host: JsonHost
  readonly #subject: Subject & { id: number }
  readonly #bytes: number

  constructor(host: JsonHost, { id, ref, channel }: Subject & { id: number }, bytes: number) {
    this.#host = host
    this.#subject = { id, ref, channel }
    this.#bytes = bytes
    host.backlog.add(bytes)
  }

  /** Answers `done`. What the request changed must be durable. */
  done(answer: Answer<Type>): void {
    this.drop()
    const message: DoneMessage = { type: 'done', id: this.#subject.id, ...answer }
    this.#host.send(message)
  }

  /** Answers `error`. */
  refuse({ status, message, details }: { status: ErrorStatus; message: string; details?: unknown }): void {
    this.drop()
    this.#host.refuse(this.#subject, status, message, details)
  }

  /** Ends the request without an answer, because its document is closed. */
  drop(): void {
    this.#host.backlog.settle(this.#bytes)
  }
}
