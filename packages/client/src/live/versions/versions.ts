import type { ApiError } from '@plenum/protocol/errors'
import type { VersionInfo, VersionUser } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'

export interface VersionPage {
  /** Newest first. */
  readonly versions: readonly VersionInfo[]
  /** The `pageToken` for the next call of `list`. Absent on the last page. */
  readonly nextPageToken?: string
}

export type VersionEvent =
  /** A client or a backend added a version. */
  | { readonly type: 'added'; readonly version: VersionInfo }
  /** A client or a backend restored a version. */
  | { readonly type: 'restored'; readonly version: VersionInfo; readonly restoredBy?: VersionUser }
  /** Events may have been missed, for example after a reconnect. List the versions again. */
  | { readonly type: 'changed' }

/** The state of the list of all versions. Immutable: a change gives a new object. */
export interface VersionListState {
  /** All versions, newest first. */
  readonly versions: readonly VersionInfo[]
  /** Whether the versions are being loaded for the first time. */
  readonly isLoading: boolean
  /** Why the versions could not be loaded. The client tries again. */
  readonly error: ApiError | undefined
}

/** All versions of an editor, kept current while there is a subscriber. */
export interface AllVersions {
  readonly state: VersionListState
  /** Calls the listener on every later change of the state. */
  subscribe(listener: () => void): Unsubscribe
}

export const unloadedList: VersionListState = { versions: [], isLoading: true, error: undefined }

/**
 * The saved versions of an editor. A call made while offline waits for the connection. A call that fails rejects with an
 * `ApiError`. If the connection is lost before the answer arrives, `list` is sent again, but `add` and `restore` reject
 * with `UNAVAILABLE`, because the server may have done them. A rejection of `add` or `restore` is also an `error` event of
 * the editor.
 */
export interface Versions {
  /** All versions, loaded with the first subscriber. */
  readonly all: AllVersions
  /** Lists one page of versions, without their content. `pageSize` is at most 100, which is also the default. */
  list(options?: { pageSize?: number; pageToken?: string }): Promise<VersionPage>
  /**
   * Saves the current content, with all local changes, as a version. Rejects with `FAILED_PRECONDITION` if the server has
   * refused local changes, because the version would lack them.
   */
  add(name: string): Promise<VersionInfo>
  /**
   * Restores the editor to a version. Resolves when the server has stored the restored content. The content arrives as a
   * normal change, shortly before or after.
   */
  restore(versionId: string): Promise<void>
  /** Calls the listener when a client or a backend has added or restored a version, or when such events may be missing. */
  subscribe(listener: (event: VersionEvent) => void): Unsubscribe
}
