import { chosenIdRule, type ErrorStatus, isChosenId } from '@plenum/protocol'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Participant } from '../../documents/participant.ts'
import type { MessageOf } from '../../messages/message.ts'
import type { JsonHost } from './host.ts'
import { JsonRequest } from './request.ts'

type Request = JsonRequest<'setLiveState'>

/** How live states end that wait when the document is closed for good. Otherwise the client opens it again and repeats them. */
const endings: Partial<Record<CloseReason, ErrorStatus>> = {
  gone: 'NOT_FOUND',
  permissionDenied: 'PERMISSION_DENIED',
}

/** The live states that a client sets in a document. */
export class LiveStateRequests {
  readonly #host: JsonHost
  readonly #participant: Participant
  readonly #run: (work: () => void) => void
  /** They wait until the document is open and access is current. */
  readonly #waiting = new Set<Request>()
  /** Why the server has closed the document for good. */
  #ending: { status: ErrorStatus; message: string } | undefined

  /** `run` runs work once the document is open and access is current, if that happens. */
  constructor(host: JsonHost, participant: Participant, run: (work: () => void) => void) {
    this.#host = host
    this.#participant = participant
    this.#run = run
  }

  set(message: MessageOf<'setLiveState'>, bytes: number): void {
    const request = new JsonRequest<'setLiveState'>(this.#host, message, bytes)
    this.#waiting.add(request)
    this.#run(() => {
      this.#waiting.delete(request)
      this.#set(message, bytes, request)
    })
  }

  #set(message: MessageOf<'setLiveState'>, bytes: number, request: Request): void {
    const { liveStateDataId, data, merge = false } = message
    const participant = this.#participant
    const { document } = participant
    if (!isChosenId(liveStateDataId)) {
      return request.refuse({ status: 'INVALID_ARGUMENT', message: `liveStateDataId ${chosenIdRule}` })
    }
    if (!participant.hasWriteRole) {
      const text = 'The user may read this document, but not change it.'
      return request.refuse({ status: 'PERMISSION_DENIED', message: text })
    }
    document.presence.markActive(participant)
    const setting = { liveStateDataId, data, merge, userId: participant.identity.userId, bytes }
    this.#host.services.liveStateWriter.set(document, setting, participant, {
      onStored: (position) => request.done({ position }),
      onRefused: (error) => {
        // The client has closed the document, or opens it again and repeats the request.
        if (participant.hasLeft && !this.#ending) request.drop()
        else request.refuse(this.#ending ?? error)
      },
    })
  }

  /** The server has closed the document. */
  end(reason: CloseReason, message: string): void {
    const status = endings[reason]
    if (!status) return
    this.#ending = { status, message }
    for (const request of this.#waiting) request.refuse(this.#ending)
    this.#waiting.clear()
  }

  /** Ends the live states that wait, without an answer. */
  drop(): void {
    for (const request of this.#waiting) request.drop()
    this.#waiting.clear()
  }
}
