import { ApiError } from '@plenum/protocol/errors'
import type { Ending } from './status.ts'

/** The phase of a document or an editor at the server. `id` is the ref of a document or the channel of an editor. */
export type Phase =
  /** Not open at the server: there is no connection, the document is not open, or a retry is scheduled. */
  | { readonly name: 'detached' }
  /** The client has sent the request to open it. */
  | { readonly name: 'opening'; readonly id: number }
  | { readonly name: 'open'; readonly id: number }
  /** The server ended it, while the connection may still be open. */
  | { readonly name: 'ended'; readonly ending: Ending; readonly error: ApiError }
  /** The application closed it. `ending`: the server had ended it before. */
  | { readonly name: 'closed'; readonly ending: Ending | undefined }

/** What a document or an editor takes over from the connection or the document that it belongs to. */
interface Parent {
  readonly ended: Ending | undefined
  readonly failure: ApiError | undefined
}

export const detached: Phase = { name: 'detached' }

export const closedAfter = (phase: Phase): Phase => ({
  name: 'closed',
  ending: 'ending' in phase ? phase.ending : undefined,
})

/** The ref or the channel under which it is open at the server. Undefined while it is not open. */
export const openId = (phase: Phase): number | undefined => (phase.name === 'open' ? phase.id : undefined)

/** Why the server ended it, or its parent. */
export const endingOf = (phase: Phase, parent: Parent): Ending | undefined =>
  'ending' in phase ? phase.ending : parent.ended

/** Why nothing can be sent any more. Undefined while a reconnect is possible. */
export function failureOf(phase: Phase, parent: Parent, noun: string): ApiError | undefined {
  if (phase.name === 'closed') return new ApiError('ABORTED', `The ${noun} was closed.`)
  return phase.name === 'ended' ? phase.error : parent.failure
}
