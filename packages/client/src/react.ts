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
import { Leases } from './platform/leases.ts'
import type { Unsubscribe } from './platform/listeners.ts'
import type { LiveState } from './live/state/live-state.ts'
import type { OwnPresence, Presence } from './live/presence/presence.ts'
import type { Status } from './live/status.ts'
import { unreadList, VersionList, type VersionListState } from './live/versions/version-list.ts'
import type { Versions } from './live/versions/versions.ts'

interface Held {
  connection: Connection
  /** Those of the components that are rendered: another component may open the editor first, without options. */
  editorOptions: Map<string, LiveEditorOptions>
  documents: Leases<LiveDocument>
  editors: Leases<LiveEditor>
}

const Context = createContext<Held | undefined>(undefined)
const heldBy = new WeakMap<Connection, Held>()

/** The hooks below it use this connection. Documents and editors are open while a component uses them. */
export function PlenumProvider(props: { connection: Connection; children?: ReactNode }): ReactElement {
  const { connection, children } = props
  const held = heldBy.get(connection) ?? {
    connection,
    editorOptions: new Map(),
    documents: new Leases(),
    editors: new Leases(),
  }
  heldBy.set(connection, held)
  return createElement(Context.Provider, { value: held }, children)
}

function useHeld(): Held {
  const held = useContext(Context)
  if (!held) throw new Error('There is no <PlenumProvider connection={…}> around this component.')
  return held
}

export const useConnection = (): Connection => useHeld().connection

export function useConnectionStatus(): Status {
  const connection = useConnection()
  return useStore(
    useCallback((changed: () => void) => connection.subscribe(changed), [connection]),
    () => connection.status,
    () => 'connecting',
  )
}

type AnyData = Record<string, unknown>

/**
 * The document, once it is in use; the component is drawn again when its status or the role has changed. `Data` is the
 * type of the presence data.
 */
export function useLiveDocument<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): LiveDocument<Data> | undefined {
  const document = useDocumentLease(organizationId, documentId)
  const shown = useStore(
    document.subscribe,
    () => {
      const current = document.peek()
      return current && `${current.status} ${current.accessRole}`
    },
    () => undefined,
  )
  if (shown === undefined) return undefined
  return document.peek() as LiveDocument<object> as LiveDocument<Data> | undefined
}

const nobody: readonly never[] = []

/**
 * All users who are present, and a function that publishes the own presence. `Data` is the type of the data that the
 * clients of your application publish; at run time, `data` of other users is what their clients sent.
 */
export function usePresence<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): [users: readonly PresentUser<Data>[], set: (own: OwnPresence<Data>) => void] {
  const [users, peek] = useOfPresence<Data, readonly PresentUser<Data>[]>(
    organizationId,
    documentId,
    (presence) => presence?.users ?? nobody,
  )
  return [users, useCallback((own: OwnPresence<Data>) => peek()?.set(own), [peek])]
}

/** The entry of the own user, however many tabs have the document open. Undefined until the server sent it. */
export function useSelf<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): PresentUser<Data> | undefined {
  return useOfPresence<Data, PresentUser<Data> | undefined>(
    organizationId,
    documentId,
    (presence) => presence?.self,
  )[0]
}

/** The entries of all other users. The component renders again only when one of these entries has changed. */
export function useOthers<Data extends object = AnyData>(
  organizationId: string,
  documentId: string,
): readonly PresentUser<Data>[] {
  return useOfPresence<Data, readonly PresentUser<Data>[]>(
    organizationId,
    documentId,
    (presence) => presence?.others ?? nobody,
  )[0]
}

function useOfPresence<Data extends object, T>(
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
    useCallback((changed: () => void) => take((document) => document.presence.subscribe(changed)), [take]),
    () => read(peek()),
    () => read(undefined),
  )
  return [value, peek] as const
}

/** A live state and what sets it. */
export function useLiveState<T extends object>(
  organizationId: string,
  documentId: string,
  liveStateDataId: string,
): [value: T | undefined, set: LiveState<T>['set']] {
  const { take, peek } = useDocumentLease(organizationId, documentId)
  const value = useStore(
    useCallback(
      (changed: () => void) => take((document) => document.liveState(liveStateDataId).subscribe(changed)),
      [take, liveStateDataId],
    ),
    () => peek()?.liveState<T>(liveStateDataId).value,
    () => undefined,
  )
  const set = useCallback(
    (data: T, options?: { merge?: false }) => {
      const document = peek()
      if (!document) throw new Error('A live state can be set once the component is mounted.')
      return document.liveState<T>(liveStateDataId).set(data, options)
    },
    [peek, liveStateDataId],
  )
  return [value, set as LiveState<T>['set']]
}

const unknown: LiveEditorState = { status: 'connecting', saved: true, readOnly: false }

/** The editor, once it is in use, and how it stands with it. The options count the first time. */
export function useLiveEditor(
  organizationId: string,
  documentId: string,
  editorId: string,
  options?: LiveEditorOptions,
): LiveEditorState & { editor: LiveEditor | undefined } {
  const { take, peek } = useEditorLease(organizationId, documentId, editorId, options)
  const state = useStore(
    useCallback((changed: () => void) => take((editor) => editor.subscribe(changed)), [take]),
    () => peek()?.state ?? unknown,
    () => unknown,
  )
  return { ...state, editor: state === unknown ? undefined : peek() }
}

const listsOf = new WeakMap<LiveEditor, VersionList>()

function listOf(editor: LiveEditor): VersionList {
  const list = listsOf.get(editor) ?? new VersionList(editor.versions)
  listsOf.set(editor, list)
  return list
}

/** All versions of an editor, the newest first, and what adds and restores one. Keeps the editor open. */
export function useVersions(
  organizationId: string,
  documentId: string,
  editorId: string,
): VersionListState & Pick<Versions, 'add' | 'restore'> {
  const { take, peek } = useEditorLease(organizationId, documentId, editorId)
  const state = useStore(
    useCallback((changed: () => void) => take((editor) => listOf(editor).subscribe(changed)), [take]),
    () => {
      const editor = peek()
      return editor ? listOf(editor).state : unreadList
    },
    () => unreadList,
  )
  const versionsOf = useCallback(() => {
    const editor = peek()
    if (!editor) throw new Error('Versions can be added and restored once the component is mounted.')
    return editor.versions
  }, [peek])
  const add = useCallback(async (name: string) => versionsOf().add(name), [versionsOf])
  const restore = useCallback(async (versionId: string) => versionsOf().restore(versionId), [versionsOf])
  return useMemo(() => ({ ...state, add, restore }), [state, add, restore])
}

function useEditorLease(
  organizationId: string,
  documentId: string,
  editorId: string,
  options?: LiveEditorOptions,
) {
  const { editors, editorOptions } = useHeld()
  const { take: takeDocument } = useDocumentLease(organizationId, documentId)
  const key = JSON.stringify([organizationId, documentId, editorId])
  if (options && !editors.peek(key)) editorOptions.set(key, options)
  const peek = useCallback(() => editors.peek(key), [editors, key])
  const take = useCallback(
    (use: (editor: LiveEditor) => Unsubscribe): Unsubscribe =>
      takeDocument((document) => {
        const release = editors.take(key, () => document.editor(editorId, editorOptions.get(key)))
        const unsubscribe = use(editors.peek(key) as LiveEditor)
        return () => {
          unsubscribe()
          release()
        }
      }),
    [takeDocument, editors, editorOptions, key, editorId],
  )
  return { peek, take }
}

function useDocumentLease(organizationId: string, documentId: string) {
  const { connection, documents } = useHeld()
  const key = JSON.stringify([organizationId, documentId])
  const peek = useCallback(() => documents.peek(key), [documents, key])
  const take = useCallback(
    (use: (document: LiveDocument) => Unsubscribe): Unsubscribe => {
      const release = documents.take(key, () => connection.document(organizationId, documentId))
      const unsubscribe = use(documents.peek(key) as LiveDocument)
      return () => {
        unsubscribe()
        release()
      }
    },
    [connection, documents, key, organizationId, documentId],
  )
  const subscribe = useCallback(
    (changed: () => void) => take((document) => document.subscribe(changed)),
    [take],
  )
  return { peek, take, subscribe }
}

/**
 * `readOnServer` is also read while React hydrates a page that a server rendered. It must give what the server gave,
 * although another part of the page may have the document open already.
 */
const useStore = <T>(
  subscribe: (changed: () => void) => Unsubscribe,
  read: () => T,
  readOnServer: () => T = read,
): T => useSyncExternalStore(subscribe, read, readOnServer)
