'use client'

import { useCallback, useMemo } from 'react'
import type { PresentUser } from '@plenum/protocol/realtime'
import type { LiveDocument } from './live/document/document.ts'
import type { LiveEditor, LiveEditorOptions, LiveEditorState } from './live/editor/editor.ts'
import type { OwnPresence, Presence } from './live/presence/presence.ts'
import type { LiveState } from './live/state/live-state.ts'
import type { ConnectionState } from './live/connection/connection.ts'
import { unloadedList, type Versions, type VersionListState } from './live/versions/versions.ts'
import { notMounted, useConnection, useDocumentLease, useEditorLease, useStore } from './react/shared.ts'

export { type InboxActions, type ThreadActions, useInbox, useThreads } from './react/conversations.ts'
export { type ListActions, useDocuments, usePeople } from './react/lists.ts'
export { PlenumProvider, useConnection } from './react/shared.ts'

const unusedConnection: ConnectionState = { status: 'connecting', reason: undefined }

/**
 * Returns the status of the connection, why it is not `connected`, and a function that connects without waiting for the next
 * attempt. Renders the component when the status or the reason changes.
 */
export function useConnectionStatus(): ConnectionState & { retry: () => void } {
  const connection = useConnection()
  const state = useStore(
    useCallback((onChange: () => void) => connection.subscribe(onChange), [connection]),
    () => connection.state,
    () => unusedConnection,
  )
  return useMemo(() => ({ ...state, retry: () => connection.reconnect() }), [state, connection])
}

type AnyData = Record<string, unknown>

/**
 * Opens a document while the component is mounted. Returns `undefined` on the first render. Renders the component when the
 * status, its reason or the role changes. `Data` is the type of the presence data of your application.
 */
export function useLiveDocument<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): LiveDocument<Data> | undefined {
  const document = useDocumentLease(organizationId, documentId)
  const rendered = useStore(
    document.subscribe,
    () => {
      const current = document.peek()
      return current && `${current.status} ${current.accessRole} ${current.reason?.message}`
    },
    () => undefined,
  )
  if (rendered === undefined) return undefined
  return document.peek() as LiveDocument<object> as LiveDocument<Data> | undefined
}

const noUsers: readonly never[] = []

/**
 * Returns the users in the presence list of the document, and a function that publishes the own presence. Renders the
 * component when the list changes. `Data` is the type of the data that your application publishes; the server does not
 * check it.
 */
export function usePresence<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): [users: readonly PresentUser<Data>[], set: (own: OwnPresence<Data>) => void] {
  const [users, peek] = usePresenceValue<Data, readonly PresentUser<Data>[]>(
    organizationId,
    documentId,
    (presence) => presence?.users ?? noUsers,
  )
  return [users, useCallback((own: OwnPresence<Data>) => peek()?.set(own), [peek])]
}

/**
 * Returns the own user in the presence list: one entry, however many tabs and devices have the document open. Returns
 * `undefined` before the server has sent the entry, and after the document was closed or deleted. Renders the component
 * only when the entry changes.
 */
export function useSelf<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): PresentUser<Data> | undefined {
  return usePresenceValue<Data, PresentUser<Data> | undefined>(
    organizationId,
    documentId,
    (presence) => presence?.self,
  )[0]
}

/** Returns the other users in the presence list. Renders the component only when one of them changes, joins or leaves. */
export function useOthers<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): readonly PresentUser<Data>[] {
  return usePresenceValue<Data, readonly PresentUser<Data>[]>(
    organizationId,
    documentId,
    (presence) => presence?.others ?? noUsers,
  )[0]
}

function usePresenceValue<Data extends object, T>(
  organizationId: string,
  documentId: string,
  read: (presence: Presence<Data> | undefined) => T,
) {
  const { take, peek: peekDocument } = useDocumentLease(organizationId, documentId)
  const peek = useCallback(
    () => peekDocument()?.presence as Presence as Presence<Data> | undefined,
    [peekDocument],
  )
  const value = useStore(
    useCallback((onChange: () => void) => take((document) => document.presence.subscribe(onChange)), [take]),
    () => read(peek()),
    () => read(undefined),
  )
  return [value, peek] as const
}

/**
 * Returns the value of a live state, and a function that sets it. The value is `undefined` until it has been set. Renders
 * the component when the value changes. The function throws before the component is mounted.
 */
export function useLiveState<T extends object>(
  organizationId: string,
  documentId: string,
  liveStateDataId: string,
): [value: T | undefined, set: LiveState<T>['set']] {
  const { hold, take, peek } = useDocumentLease(organizationId, documentId)
  const value = useStore(
    useCallback(
      (onChange: () => void) => take((document) => document.liveState(liveStateDataId).subscribe(onChange)),
      [take, liveStateDataId],
    ),
    () => peek()?.liveState<T>(liveStateDataId).value,
    () => undefined,
  )
  const set = useCallback(
    (data: T, options?: { merge?: false }) => {
      const document = peek()
      if (!document) throw notMounted('set of useLiveState')
      // The write may have to be sent after the component was unmounted, and that needs the document.
      const release = hold()
      const stored = document.liveState<T>(liveStateDataId).set(data, options)
      stored.then(release, release)
      return stored
    },
    [peek, hold, liveStateDataId],
  )
  return [value, set as LiveState<T>['set']]
}

const unopenedState: LiveEditorState = {
  status: 'connecting',
  reason: undefined,
  saved: true,
  readOnly: false,
}

/**
 * Opens an editor while the component is mounted. Returns the editor, its state, and a function that opens it again without
 * delay. `editor` is `undefined` on the first
 * render. Renders the component when the state changes. The options are used only when the editor is opened, and ignored
 * afterwards.
 */
export function useLiveEditor(
  organizationId: string,
  documentId: string,
  editorId: string,
  options?: LiveEditorOptions,
): LiveEditorState & { editor: LiveEditor | undefined; retry: () => void } {
  const { take, peek } = useEditorLease(organizationId, documentId, editorId, options)
  const state = useStore(
    useCallback((onChange: () => void) => take((editor) => editor.subscribe(onChange)), [take]),
    () => peek()?.state ?? unopenedState,
    () => unopenedState,
  )
  const retry = useCallback(() => peek()?.retry(), [peek])
  return { ...state, editor: state === unopenedState ? undefined : peek(), retry }
}

/**
 * Returns all versions of an editor, newest first, and functions that add and restore a version. Opens the editor while the
 * component is mounted. Renders the component when the list changes, also when a backend adds a version.
 *
 * `add` and `restore` reject with an `ApiError` when they fail. Handle it: a rejection that you ignore is an unhandled
 * rejection.
 */
export function useVersions(
  organizationId: string,
  documentId: string,
  editorId: string,
): VersionListState & Pick<Versions, 'add' | 'restore'> {
  const { take, peek } = useEditorLease(organizationId, documentId, editorId)
  const state = useStore(
    useCallback((onChange: () => void) => take((editor) => editor.versions.all.subscribe(onChange)), [take]),
    () => peek()?.versions.all.state ?? unloadedList,
    () => unloadedList,
  )
  const versions = useCallback(() => {
    const editor = peek()
    if (!editor) throw notMounted('add and restore of useVersions')
    return editor.versions
  }, [peek])
  const add = useCallback(async (name: string) => versions().add(name), [versions])
  const restore = useCallback(async (versionId: string) => versions().restore(versionId), [versions])
  return useMemo(() => ({ ...state, add, restore }), [state, add, restore])
}
