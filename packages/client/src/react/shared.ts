import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useSyncExternalStore,
} from 'react'
import type { Connection } from '../live/connection/connection.ts'
import type { LiveDocument } from '../live/document/document.ts'
import type { LiveEditor, LiveEditorOptions } from '../live/editor/editor.ts'
import { Leases } from '../platform/leases.ts'
import type { Unsubscribe } from '../platform/listeners.ts'

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

export function useEditorLease(
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

export function useDocumentLease(organizationId: string, documentId: string) {
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

export const notMounted = (call: string) =>
  new Error(`Call ${call} in an effect or an event handler: the component is not mounted yet.`)

/**
 * React calls `readOnServer` on a server, and again while it hydrates the page. Both results must be equal, even if another
 * part of the page has opened the document already.
 */
export const useStore = <T>(
  subscribe: (onChange: () => void) => Unsubscribe,
  read: () => T,
  readOnServer: () => T,
): T => useSyncExternalStore(subscribe, read, readOnServer)
