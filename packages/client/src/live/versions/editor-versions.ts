import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage, ServerMessage, VersionInfo } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { checkId, checkPage, checkVersionName } from '../checks.ts'
import { PendingRequests, type PendingRequestsDeps } from '../pending-requests.ts'
import { VersionList } from './version-list.ts'
import type { VersionEvent, VersionPage, Versions } from './versions.ts'

type EventMessage = ServerMessage & { type: 'versionAdded' | 'versionRestored' | 'versionsChanged' }
type VersionMessage = ClientMessage & { type: 'listVersions' | 'addVersion' | 'restoreVersion' }
type VersionRequest = VersionMessage extends infer Message
  ? Message extends VersionMessage
    ? Omit<Message, 'id' | 'channel'>
    : never
  : never

interface VersionsDeps extends PendingRequestsDeps<VersionRequest> {
  reportError(error: ApiError): void
}

export class EditorVersions implements Versions {
  readonly all = new VersionList(this)
  readonly #deps: VersionsDeps
  readonly #listeners = new Listeners<VersionEvent>()
  readonly #requests: PendingRequests<VersionRequest>
  #wasOpen = false

  constructor(deps: VersionsDeps) {
    this.#deps = deps
    this.#requests = new PendingRequests(deps)
  }

  async list({ pageSize, pageToken }: { pageSize?: number; pageToken?: string } = {}): Promise<VersionPage> {
    checkPage(pageSize, pageToken)
    const { versions = [], nextPageToken } = await this.#requests.send({
      type: 'listVersions',
      pageSize,
      pageToken,
    })
    return { versions, ...(nextPageToken !== undefined && { nextPageToken }) }
  }

  add(name: string): Promise<VersionInfo> {
    return this.#reportRejection(async () => {
      checkVersionName(name)
      const { version } = await this.#requests.send({ type: 'addVersion', name })
      return version as VersionInfo
    })
  }

  restore(versionId: string): Promise<void> {
    return this.#reportRejection(async () => {
      checkId('versionId', versionId)
      await this.#requests.send({ type: 'restoreVersion', versionId })
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

  /** Sends the waiting requests, if they can be sent now. */
  flush(): void {
    this.#requests.flush()
  }

  onOpened(): void {
    if (this.#wasOpen) this.#listeners.emit({ type: 'changed' })
    this.#wasOpen = true
  }

  /** Only lists are sent again: adding or restoring twice could do harm. */
  onLost(): void {
    this.#requests.onLost(({ type }) => (type === 'listVersions' ? undefined : connectionLost()))
  }

  receive(message: EventMessage): void {
    this.#listeners.emit(toEvent(message))
  }

  /** Rejects all calls, because the editor ended. */
  rejectAll(error: ApiError): void {
    this.#requests.rejectAll(error)
  }

  close(error: ApiError): void {
    this.all.close()
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
