import Type, { type Static, type TInteger, type TObject, type TProperties } from 'typebox'
import type { ErrorStatus } from '../base/error-statuses.ts'

/** A message of `/realtime`. Validation, the types and the reference page derive from it. Its key in the table is its `type`. */
export interface MessageDeclaration {
  /** What the message does or means, in one sentence. */
  summary: string
  description?: string
  /** The fields besides `type`. */
  fields: TObject
  example: object
}

export interface ClientMessageDeclaration extends MessageDeclaration {
  /** The types of the messages with which the server answers. */
  answers: readonly string[]
  /** When the server refuses the message with `error`, by the status. */
  errors?: Errors
  /** Only requests: the fields that `done` has besides `id`, and an example of them. */
  done?: { fields: TObject; example: object }
}

type Errors = Readonly<Partial<Record<ErrorStatus, string>>>

interface Declared<F extends TProperties> {
  summary: string
  description?: string
  fields: F
  example: NoInfer<Static<TObject<F>>>
}

/** Declares a message of the server. */
export const serverMessage = <F extends TProperties>(message: Declared<F>) => ({
  ...message,
  fields: Type.Object(message.fields),
})

/** Declares a message of a client that is no request. */
export const clientMessage = <F extends TProperties>(
  message: Declared<F> & { answers?: readonly string[]; errors?: Errors },
) => ({ ...message, fields: Type.Object(message.fields), answers: message.answers ?? [] })

/** Declares a request: a message with an `id`, which the server answers with `done` or `error` and the same `id`. */
export const request = <F extends TProperties & { id: TInteger }, D extends TProperties>(
  message: Declared<F> & { errors: Errors; done: { fields: D; example: NoInfer<Static<TObject<D>>> } },
) => ({
  ...message,
  fields: Type.Object(message.fields),
  answers: ['done', 'error'] as const,
  done: { ...message.done, fields: Type.Object(message.done.fields) },
})
