import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage, ServerMessage, VersionInfo, VersionUser } from '@plenum/protocol/realtime'
import { checkId, checkPage, checkVersionName } from '../checks.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'

export interface VersionPage {
  /** The newest first. */
  readonly versions: readonly VersionInfo[]
  /** For the next call of `list`, if there are more. */
  readonly nextPageToken?: string
}

export type VersionEvent =
  | { readonly type: 'added'; readonly version: VersionInfo }
  | { readonly type: 'restored'; readonly version: VersionInfo; readonly restoredBy?: VersionUser }
  /** Events may have been missed, as after a reconnect: read the list again. */
  | { readonly type: 'changed' }

/**
 * The versions of an editor. Calls made while offline wait for the connection. Rejections are `ApiError`s. When the
 * connection is lost before the answer, `add` and `restore` reject with `UNAVAILABLE`: they may have been done.
 */
export interface Versions {
  /** One page, with 100 versions by default and at most. */
  list(options?: { pageSize?: number; pageToken?: string }): Promise<VersionPage>
  /** Saves the content as it is now, with all changes made here before. */
  add(name: string): Promise<VersionInfo>
  /** Resolves when it is durable. The content arrives as any other change, shortly before or after. */
  restore(versionId: string): Promise<void>
  /** Called when anybody has added or restored a version. */
  subscribe(listener: (event: VersionEvent) => void): Unsubscribe
}

type EventMessage = ServerMessage & { type: 'versionAdded' | 'versionRestored' | 'versionsChanged' }
type Done = ServerMessage & { type: 'done' }
type VersionMessage = ClientMessage & { type: 'listVersions' | 'addVersion' | 'restoreVersion' }
type VersionRequest = VersionMessage extends infer Message
  ? Message extends VersionMessage
    ? Omit<Message, 'id' | 'channel'>
    : never
  : never

export interface VersionsHost {
  /** Why nothing will be sent any more. */
  failure(): ApiError | undefined
  error(error: ApiError): void
  /** False if it cannot be sent now; then the answer never comes. */
  request(message: VersionRequest, answer: (outcome: Done | ApiError) => void): boolean
}

interface Call {
  message: VersionRequest
  isSent: boolean
  settle(outcome: Done | ApiError): void
}

export class EditorVersions implements Versions {
  readonly #host: VersionsHost
  readonly #listeners = new Listeners<VersionEvent>()
  readonly #calls = new Set<Call>()
  #wasOpen = false
  #isFlushing = false

  constructor(host: VersionsHost) {
    this.#host = host
  }

  async list({ pageSize, pageToken }: { pageSize?: number; pageToken?: string } = {}): Promise<VersionPage> {
    checkPage(pageSize, pageToken)
    const { versions = [], nextPageToken } = await this.#call({ type: 'listVersions', pageSize, pageToken })
    return { versions, ...(nextPageToken !== undefined && { nextPageToken }) }
  }

  add(name: string): Promise<VersionInfo> {
    return this.#change(async () => {
      checkVersionName(name)
      const { version } = await this.#call({ type: 'addVersion', name })
      return version as VersionInfo
    })
  }

  restore(versionId: string): Promise<void> {
    return this.#change(async () => {
      checkId('versionId', versionId)
      await this.#call({ type: 'restoreVersion', versionId })
    })
  }

  subscribe(listener: (event: VersionEvent) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  /** Whoever does not wait for it hears of a refusal by the `error` event; nothing is to end a process. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    const done = change()
    done.catch((error: unknown) => this.#host.error(error as ApiError))
    return done
  }

  #call(message: VersionRequest): Promise<Done> {
    return new Promise((resolve, reject) => {
      const failure = this.#host.failure()
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

  /** Sends what waits, if it can be sent now. */
  flush(): void {
    // To send something changes the state of the editor, which calls this again.
    if (this.#isFlushing) return
    this.#isFlushing = true
    for (const call of this.#calls) {
      if (call.isSent) continue
      call.isSent = this.#host.request(call.message, (outcome) => call.settle(outcome))
      if (!call.isSent) break
    }
    this.#isFlushing = false
  }

  /** The editor is open at the server. */
  opened(): void {
    if (this.#wasOpen) this.#listeners.emit({ type: 'changed' })
    this.#wasOpen = true
  }

  /** Only lists are sent again: to add or restore a second time could do harm. */
  lost(): void {
    for (const call of this.#calls) {
      if (call.isSent && call.message.type !== 'listVersions') call.settle(connectionLost())
      call.isSent = false
    }
  }

  receive(message: EventMessage): void {
    this.#listeners.emit(eventOf(message))
  }

  ended(error: ApiError): void {
    for (const call of this.#calls) call.settle(error)
  }

  closed(error: ApiError): void {
    this.ended(error)
    this.#listeners.clear()
  }
}

const connectionLost = () =>
  new ApiError('UNAVAILABLE', 'The connection was lost before the answer. The request may have been done.')

function eventOf(message: EventMessage): VersionEvent {
  if (message.type === 'versionsChanged') return { type: 'changed' }
  const { version } = message
  if (message.type === 'versionAdded') return { type: 'added', version }
  const { restoredBy } = message
  return { type: 'restored', version, ...(restoredBy && { restoredBy }) }
}
