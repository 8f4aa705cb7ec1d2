import type { VersionInfo } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'
import { LoadedList } from '../loaded-list.ts'
import { type AllVersions, unloadedList, type Versions, type VersionListState } from './versions.ts'

/** All versions of an editor, kept current while there is a subscriber. */
export class VersionList extends LoadedList<VersionListState> implements AllVersions {
  readonly #versions: Pick<Versions, 'list' | 'subscribe'>
  #subscriberCount = 0
  #stopFollowing: Unsubscribe | undefined
  /** Versions that were added since the latest load began. */
  #added: VersionInfo[] = []

  constructor(versions: Pick<Versions, 'list' | 'subscribe'>) {
    super(unloadedList)
    this.#versions = versions
  }

  subscribe(listener: () => void): Unsubscribe {
    const unsubscribe = this.listeners.add(listener)
    if (this.#subscriberCount++ === 0) this.#follow()
    return () => {
      unsubscribe()
      if (--this.#subscriberCount === 0) this.#stop()
    }
  }

  #follow(): void {
    const stopFollowing = this.#versions.subscribe((event) => {
      if (event.type === 'changed') return void this.reload(true)
      if (event.type !== 'added') return
      this.#added.push(event.version)
      this.publish({ versions: merge([event.version], this.state.versions) })
    })
    this.#stopFollowing = stopFollowing
    // React's strict mode subscribes twice in a row. One request is enough.
    queueMicrotask(() => {
      if (this.#stopFollowing === stopFollowing) void this.reload(true)
    })
  }

  close(): void {
    this.#stop()
    this.listeners.clear()
  }

  #stop(): void {
    this.#stopFollowing?.()
    this.#stopFollowing = undefined
    this.stopLoading()
  }

  protected async load(): Promise<Partial<VersionListState>> {
    this.#added = []
    const loaded: VersionInfo[] = []
    let pageToken: string | undefined
    do {
      const page = await this.#versions.list({ pageToken })
      loaded.push(...page.versions)
      pageToken = page.nextPageToken
    } while (pageToken !== undefined)
    return { versions: merge(this.#added, loaded) }
  }
}

/** Returns the versions of both lists without duplicates, sorted as the server sorts them. */
function merge(added: readonly VersionInfo[], known: readonly VersionInfo[]): VersionInfo[] {
  const byId = new Map([...known, ...added].map((version) => [version.versionId, version]))
  return [...byId.values()].sort((a, b) => b.createdAt - a.createdAt || (a.versionId < b.versionId ? 1 : -1))
}
