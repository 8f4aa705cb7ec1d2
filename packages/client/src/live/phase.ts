import { ApiError } from '@plenum/protocol/errors'
import type { Ending } from './status.ts'

/** The phase of a document or an editor ("it") at the server. `id` is the ref of a document or the channel of an editor. */
export type Phase =
  /** It is not open at the server: there is no connection, the document of an editor is not open, or a retry is scheduled. */
  | { readonly name: 'detached' }
  /** The client has asked the server to open it. */
  | { readonly name: 'opening'; readonly id: number }
  | { readonly name: 'open'; readonly id: number }
  /** The server ended it, while the connection may still be open. */
  | { readonly name: 'ended'; readonly ending: Ending; readonly error: ApiError }
  /** The server ended it, and the client has asked the server to open it again. */
  | {
      readonly name: 'reopening'
      readonly id: number
      readonly ending: Ending
      readonly error: ApiError
    }
  /** The application closed it. `ending` is set if the server had ended it before. */
  | { readonly name: 'closed'; readonly ending: Ending | undefined }

/** The connection of a document, or the document of an editor. */
interface Parent {
  readonly ended: Ending | undefined
  readonly failure: ApiError | undefined
}

export const detached: Phase = { name: 'detached' }

/** The phase of what is not open at the server any more, or was not opened. */
export const afterClose = (phase: Phase): Phase =>
  phase.name === 'reopening' ? { name: 'ended', ending: phase.ending, error: phase.error } : detached

export const closedAfter = (phase: Phase): Phase => ({
  name: 'closed',
  ending: 'ending' in phase ? phase.ending : undefined,
})

/** Returns the ref of a document or the channel of an editor that is open at the server. Returns undefined otherwise. */
export const openId = (phase: Phase): number | undefined => (phase.name === 'open' ? phase.id : undefined)

/** Returns why the server ended the document or editor, or its parent. */
export const endingOf = (phase: Phase, parent: Parent): Ending | undefined =>
  'ending' in phase ? phase.ending : parent.ended

/** Returns why nothing can be sent any more. Returns undefined while a reconnect is possible. */
export function failureOf(phase: Phase, parent: Parent, noun: string): ApiError | undefined {
  if (phase.name === 'closed') return new ApiError('ABORTED', `The ${noun} was closed.`)
  return 'error' in phase ? phase.error : parent.failure
}
