'use client'

import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'
import type { PresentUser } from '@plenum/protocol/realtime'
import type { Connection } from './live/connection/connection.ts'
import type { LiveDocument } from './live/document/document.ts'
import type { LiveEditor, LiveEditorOptions, LiveEditorState } from './live/editor/editor.ts'
import type { OwnPresence, Presence } from './live/presence/presence.ts'
import type { LiveState } from './live/state/live-state.ts'
import type { Status } from './live/status.ts'
import type { Threads, ThreadsState } from './live/threads/threads.ts'
import { unloadedList, VersionList, type VersionListState } from './live/versions/version-list.ts'
import type { Versions } from './live/versions/versions.ts'
import { Leases } from './platform/leases.ts'
import type { Unsubscribe } from './platform/listeners.ts'

/** What the components below a provider share. */
interface Shared {
  connection: Connection
  /**
   * The options that components pass to `useLiveEditor`, by editor. They are kept here because another component may open
   * the editor first, without options.
   */
  editorOptions: Map<string, LiveEditorOptions>
  documents: Leases<LiveDocument>
  editors: Leases<LiveEditor>
}

const Context = createContext<Shared | undefined>(undefined)
const sharedByConnection = new WeakMap<Connection, Shared>()

/**
 * Provides the connection to the hooks in the components below it. A document or an editor is open while at least one
 * component uses it, and until its changes are saved or refused. The provider does not close the connection: create it
 * outside of the components, and close it there.
 */
export function PlenumProvider(props: { connection: Connection; children?: ReactNode }): ReactElement {
  const { connection, children } = props
  const shared = sharedByConnection.get(connection) ?? {
    connection,
    editorOptions: new Map(),
    documents: new Leases(),
    editors: new Leases(whenSaved),
  }
  sharedByConnection.set(connection, shared)
  return createElement(Context.Provider, { value: shared }, children)
}

/** The `whenDone` of editors. It is rejected if changes were refused, which the `error` event has reported. */
const whenSaved = (editor: LiveEditor) => (editor.saved ? undefined : editor.whenSaved())

function useShared(): Shared {
  const shared = useContext(Context)
  if (!shared) {
    throw new Error(
      'The hooks of @plenum/client/react need a <PlenumProvider connection={…}> around the component.',
    )
  }
  return shared
}

/** Returns the connection of the `PlenumProvider`. */
export const useConnection = (): Connection => useShared().connection

/** Returns the status of the connection. Renders the component when the status changes. */
export function useConnectionStatus(): Status {
  const connection = useConnection()
  return useStore(
    useCallback((onChange: () => void) => connection.subscribe(onChange), [connection]),
    () => connection.status,
    () => 'connecting',
  )
}

type AnyData = Record<string, unknown>

/**
 * Opens a document while the component is mounted. Returns `undefined` on the first render. Renders the component when the
 * status or the role changes. `Data` is the type of the presence data of your application.
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
      return current && `${current.status} ${current.accessRole}`
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

const notMounted = (call: string) =>
  new Error(`Call ${call} in an effect or an event handler: the component is not mounted yet.`)

const unopenedState: LiveEditorState = { status: 'connecting', saved: true, readOnly: false }

/**
 * Opens an editor while the component is mounted. Returns the editor and its state. `editor` is `undefined` on the first
 * render. Renders the component when the state changes. The options are used only when the editor is opened, and ignored
 * afterwards.
 */
export function useLiveEditor(
  organizationId: string,
  documentId: string,
  editorId: string,
  options?: LiveEditorOptions,
): LiveEditorState & { editor: LiveEditor | undefined } {
  const { take, peek } = useEditorLease(organizationId, documentId, editorId, options)
  const state = useStore(
    useCallback((onChange: () => void) => take((editor) => editor.subscribe(onChange)), [take]),
    () => peek()?.state ?? unopenedState,
    () => unopenedState,
  )
  return { ...state, editor: state === unopenedState ? undefined : peek() }
}

const listByEditor = new WeakMap<LiveEditor, VersionList>()

function versionListOf(editor: LiveEditor): VersionList {
  const list = listByEditor.get(editor) ?? new VersionList(editor.versions)
  listByEditor.set(editor, list)
  return list
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
    useCallback(
      (onChange: () => void) => take((editor) => versionListOf(editor).subscribe(onChange)),
      [take],
    ),
    () => {
      const editor = peek()
      return editor ? versionListOf(editor).state : unloadedList
    },
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

const unloadedThreads: ThreadsState = { threads: [], isLoading: true, hasMore: false, error: undefined }

/**
 * Returns the comment threads of a document that the user may see, the one that changed last first, and the functions that
 * change them. Opens the document while the component is mounted. Renders the component when a thread changes.
 *
 * The functions reject with an `ApiError` when they fail. Handle it: a rejection that you ignore is an unhandled rejection.
 */
export function useThreads(
  organizationId: string,
  documentId: string,
): ThreadsState & { actions: ThreadActions } {
  const { take, peek } = useDocumentLease(organizationId, documentId)
  const state = useStore(
    useCallback((onChange: () => void) => take((document) => document.threads.subscribe(onChange)), [take]),
    () => peek()?.threads.state ?? unloadedThreads,
    () => unloadedThreads,
  )
  const actions = useMemo(() => {
    const call =
      <Name extends ThreadActionName>(name: Name) =>
      async (...args: unknown[]) => {
        const threads = peek()?.threads
        if (!threads) throw notMounted('the actions of useThreads')
        return (threads[name] as (...args: unknown[]) => Promise<unknown>)(...args)
      }
    return Object.fromEntries(threadActions.map((name) => [name, call(name)])) as unknown as ThreadActions
  }, [peek])
  return useMemo(() => ({ ...state, actions }), [state, actions])
}

const threadActions = [
  'add',
  'reply',
  'edit',
  'deleteComment',
  'delete',
  'update',
  'resolve',
  'reopen',
  'react',
  'removeReaction',
  'markViewed',
  'loadMore',
] as const
type ThreadActionName = (typeof threadActions)[number]
/** The methods of `Threads` that change or load threads. */
export type ThreadActions = Pick<Threads, ThreadActionName>

function useEditorLease(
  organizationId: string,
  documentId: string,
  editorId: string,
  options?: LiveEditorOptions,
) {
  const { editors, editorOptions } = useShared()
  const { hold: holdDocument, take: takeDocument } = useDocumentLease(organizationId, documentId)
  const key = JSON.stringify([organizationId, documentId, editorId])
  if (options && !editors.peek(key)) editorOptions.set(key, options)
  const peek = useCallback(() => editors.peek(key), [editors, key])
  const take = useCallback(
    (subscribe: (editor: LiveEditor) => Unsubscribe): Unsubscribe =>
      takeDocument((document) => {
        const open = () => document.editor(editorId, editorOptions.get(key))
        // Changes may have to be saved after the component was unmounted, and that needs the document.
        const release = editors.take(key, open, holdDocument)
        const unsubscribe = subscribe(editors.peek(key) as LiveEditor)
        return () => {
          unsubscribe()
          release()
        }
      }),
    [holdDocument, takeDocument, editors, editorOptions, key, editorId],
  )
  return { peek, take }
}

function useDocumentLease(organizationId: string, documentId: string) {
  const { connection, documents } = useShared()
  const key = JSON.stringify([organizationId, documentId])
  const peek = useCallback(() => documents.peek(key), [documents, key])
  const hold = useCallback(
    () => documents.take(key, () => connection.document(organizationId, documentId)),
    [connection, documents, key, organizationId, documentId],
  )
  const take = useCallback(
    (subscribe: (document: LiveDocument) => Unsubscribe): Unsubscribe => {
      const release = hold()
      const unsubscribe = subscribe(documents.peek(key) as LiveDocument)
      return () => {
        unsubscribe()
        release()
      }
    },
    [hold, documents, key],
  )
  const subscribe = useCallback(
    (onChange: () => void) => take((document) => document.subscribe(onChange)),
    [take],
  )
  return { peek, hold, take, subscribe }
}

/**
 * React calls `readOnServer` on a server, and again while it hydrates the page. Both results must be equal, even if another
 * part of the page has opened the document already.
 */
const useStore = <T>(
  subscribe: (onChange: () => void) => Unsubscribe,
  read: () => T,
  readOnServer: () => T,
): T => useSyncExternalStore(subscribe, read, readOnServer)
