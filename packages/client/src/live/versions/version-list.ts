import { ApiError } from '@plenum/protocol/errors'
import type { VersionInfo } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import type { Versions } from './versions.ts'

/** Another object after each change. */
export interface VersionListState {
  /** All of them, the newest first. */
  readonly versions: readonly VersionInfo[]
  /** Whether the list is being read for the first time. */
  readonly isLoading: boolean
  /** Why the list could not be read. */
  readonly error: ApiError | undefined
}

export const unreadList: VersionListState = { versions: [], isLoading: true, error: undefined }

/** All versions of an editor, kept current while somebody listens. */
export class VersionList {
  state = unreadList
  readonly #versions: Versions
  readonly #listeners = new Listeners<undefined>()
  #count = 0
  #unfollow: Unsubscribe | undefined
  /** Counts the attempts to read the list; only the newest one counts. */
  #readings = 0
  /** Versions that were added while the list is being read. */
  #added: VersionInfo[] = []

  constructor(versions: Versions) {
    this.#versions = versions
  }

  subscribe(listener: () => void): Unsubscribe {
    const unsubscribe = this.#listeners.add(listener)
    if (this.#count++ === 0) this.#follow()
    return () => {
      unsubscribe()
      if (--this.#count === 0) this.#stop()
    }
  }

  #follow(): void {
    const unfollow = this.#versions.subscribe((event) => {
      if (event.type === 'changed') return void this.#read()
      if (event.type !== 'added') return
      this.#added.push(event.version)
      this.#change({ versions: merged([event.version], this.state.versions) })
    })
    this.#unfollow = unfollow
    // React's strict mode subscribes twice in a row, but one request is enough.
    queueMicrotask(() => {
      if (this.#unfollow === unfollow) void this.#read()
    })
  }

  #stop(): void {
    this.#unfollow?.()
    this.#unfollow = undefined
    this.#readings++
  }

  async #read(): Promise<void> {
    const reading = ++this.#readings
    this.#added = []
    const read: VersionInfo[] = []
    let pageToken: string | undefined
    try {
      do {
        const page = await this.#versions.list({ pageToken })
        if (reading !== this.#readings) return
        read.push(...page.versions)
        pageToken = page.nextPageToken
      } while (pageToken !== undefined)
      this.#change({ versions: merged(this.#added, read), isLoading: false, error: undefined })
    } catch (error) {
      if (reading === this.#readings) this.#change({ isLoading: false, error: error as ApiError })
    }
  }

  #change(change: Partial<VersionListState>): void {
    this.state = { ...this.state, ...change }
    this.#listeners.emit(undefined)
  }
}

/** Without repetitions, in the order of the server. */
function merged(added: readonly VersionInfo[], known: readonly VersionInfo[]): VersionInfo[] {
  const byId = new Map([...known, ...added].map((version) => [version.versionId, version]))
  return [...byId.values()].sort((a, b) => b.createdAt - a.createdAt || (a.versionId < b.versionId ? 1 : -1))
}
