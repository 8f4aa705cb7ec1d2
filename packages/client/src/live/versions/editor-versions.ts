import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage, ServerMessage, VersionInfo } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { checkId, checkPage, checkVersionName } from '../checks.ts'
import type { VersionEvent, VersionPage, Versions } from './versions.ts'

type EventMessage = ServerMessage & { type: 'versionAdded' | 'versionRestored' | 'versionsChanged' }
type Done = ServerMessage & { type: 'done' }
type VersionMessage = ClientMessage & { type: 'listVersions' | 'addVersion' | 'restoreVersion' }
type VersionRequest = VersionMessage extends infer Message
  ? Message extends VersionMessage
    ? Omit<Message, 'id' | 'channel'>
    : never
  : never

interface VersionsDeps {
  /** Why nothing can be sent any more. */
  failure(): ApiError | undefined
  reportError(error: ApiError): void
  /** Returns false if the request cannot be sent now. `onOutcome` is then never called. */
  request(message: VersionRequest, onOutcome: (outcome: Done | ApiError) => void): boolean
}

interface Call {
  message: VersionRequest
  isSent: boolean
  settle(outcome: Done | ApiError): void
}

export class EditorVersions implements Versions {
  readonly #deps: VersionsDeps
  readonly #listeners = new Listeners<VersionEvent>()
  readonly #calls = new Set<Call>()
  #wasOpen = false
  #isFlushing = false

  constructor(deps: VersionsDeps) {
    this.#deps = deps
  }

  async list({ pageSize, pageToken }: { pageSize?: number; pageToken?: string } = {}): Promise<VersionPage> {
    checkPage(pageSize, pageToken)
    const { versions = [], nextPageToken } = await this.#call({ type: 'listVersions', pageSize, pageToken })
    return { versions, ...(nextPageToken !== undefined && { nextPageToken }) }
  }

  add(name: string): Promise<VersionInfo> {
    return this.#reportRejection(async () => {
      checkVersionName(name)
      const { version } = await this.#call({ type: 'addVersion', name })
      return version as VersionInfo
    })
  }

  restore(versionId: string): Promise<void> {
    return this.#reportRejection(async () => {
      checkId('versionId', versionId)
      await this.#call({ type: 'restoreVersion', versionId })
    })
  }

  subscribe(listener: (event: VersionEvent) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  /** A caller that ignores the promise gets the `error` event. An unhandled rejection would end a Node process. */
  #reportRejection<T>(change: () => Promise<T>): Promise<T> {
    const promise = change()
    promise.catch((error: unknown) => this.#deps.reportError(error as ApiError))
    return promise
  }

  #call(message: VersionRequest): Promise<Done> {
    return new Promise((resolve, reject) => {
      const failure = this.#deps.failure()
      if (failure) return reject(failure)
      const settle = (outcome: Done | ApiError) => {
        if (!this.#calls.delete(call)) return
        if (outcome instanceof ApiError) reject(outcome)
        else resolve(outcome)
      }
      const call: Call = { message, isSent: false, settle }
      this.#calls.add(call)
      this.flush()
    })
  }

  /** Sends the waiting calls, if they can be sent now. */
  flush(): void {
    // Sending may change the state of the editor, which calls this method again.
    if (this.#isFlushing) return
    this.#isFlushing = true
    for (const call of this.#calls) {
      if (call.isSent) continue
      call.isSent = this.#deps.request(call.message, (outcome) => call.settle(outcome))
      if (!call.isSent) break
    }
    this.#isFlushing = false
  }

  onOpened(): void {
    if (this.#wasOpen) this.#listeners.emit({ type: 'changed' })
    this.#wasOpen = true
  }

  /** Only lists are sent again: adding or restoring twice could do harm. */
  onLost(): void {
    for (const call of this.#calls) {
      if (call.isSent && call.message.type !== 'listVersions') call.settle(connectionLost())
      call.isSent = false
    }
  }

  receive(message: EventMessage): void {
    this.#listeners.emit(toEvent(message))
  }

  /** Rejects all calls, because the editor ended. */
  rejectAll(error: ApiError): void {
    for (const call of this.#calls) call.settle(error)
  }

  close(error: ApiError): void {
    this.rejectAll(error)
    this.#listeners.clear()
  }
}

const connectionLost = () =>
  new ApiError(
    'UNAVAILABLE',
    'The connection was lost before the answer. The server may have added or restored the version: list the versions to find out.',
  )

function toEvent(message: EventMessage): VersionEvent {
  if (message.type === 'versionsChanged') return { type: 'changed' }
  const { version } = message
  if (message.type === 'versionAdded') return { type: 'added', version }
  const { restoredBy } = message
  return { type: 'restored', version, ...(restoredBy && { restoredBy }) }
}
