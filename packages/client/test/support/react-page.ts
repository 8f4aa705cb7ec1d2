import { createElement, Fragment, StrictMode, useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient, type TokenSource } from '../../src/index.ts'
import {
  PlenumProvider,
  useConnectionStatus,
  useDocuments,
  useLiveDocument,
  useLiveEditor,
  useLiveState,
  useInbox,
  useOthers,
  usePeople,
  usePresence,
  useSelf,
  useThreads,
  useVersions,
} from '../../src/react.ts'

interface Cursor {
  cursor: number
}

/** How often the component `Others` was rendered. */
let othersRenders = 0

function Others({ documentId }: { documentId: string }) {
  useOthers('org_1', documentId)
  Object.assign(globalThis, { othersRenders: ++othersRenders })
  return null
}

/** Renders the values of all hooks as JSON, which the test reads from the page. */
function Room({ documentId }: { documentId: string }) {
  const connection = useConnectionStatus()
  const document = useLiveDocument('org_1', documentId)
  const [users, setPresence] = usePresence<Cursor>('org_1', documentId)
  const self = useSelf<Cursor>('org_1', documentId)
  const others = useOthers<Cursor>('org_1', documentId)
  const [player, setPlayer] = useLiveState<{ position: number }>('org_1', documentId, 'player')
  // `useVersions` opens the editor first, and the options of `useLiveEditor` still apply.
  const list = useVersions('org_1', documentId, 'note')
  const { editor, retry: _, reason, ...state } = useLiveEditor('org_1', documentId, 'note', { type: 'text' })
  const lists = useRef(new Set<unknown>())
  lists.current.add(list)
  const text = editor?.doc.getText('content')
  const [words, setWords] = useState('')
  useEffect(() => {
    const show = () => setWords(text?.toJSON() ?? '')
    show()
    text?.observe(show)
    return () => text?.unobserve(show)
  }, [text])
  const shown = {
    connection: connection.status,
    connectionReason: connection.reason?.message,
    role: document?.accessRole,
    users: users.map(({ userId, data }) => [userId, data]),
    self: self && [self.userId, self.data?.cursor],
    others: others.map(({ userId, data }) => [userId, data?.cursor]),
    player,
    words,
    ...state,
    reason: reason?.message,
    versions: list.versions.map(({ name, createdBy }) => [name, createdBy?.userId]),
    isLoading: list.isLoading,
  }
  Object.assign(globalThis, {
    room: {
      setPresence,
      setPlayer,
      write: (word: string) => text?.insert(text.length, word),
      editor,
      retry: connection.retry,
      saveVersion: (name: string) => list.add(name),
      restoreVersion: (name: string) =>
        list.restore(list.versions.find((version) => version.name === name)?.versionId ?? ''),
      countLists: () => lists.current.size,
    },
  })
  return createElement('pre', null, JSON.stringify(shown))
}

/** Shows the threads as JSON in an element of its own. A test shows it, and the inbox, with `showThreads(true)`. */
function Threads({ documentId }: { documentId: string }) {
  const { threads, isLoading, error, actions } = useThreads('org_1', documentId)
  Object.assign(globalThis, { threadActions: actions, threadsError: error?.message })
  const shown = threads.map(({ annotationId, comments, unread, status }) => ({
    annotationId,
    texts: comments.map(({ commentText }) => commentText),
    unread,
    status: status.id,
  }))
  return createElement('code', null, JSON.stringify({ isLoading, threads: shown }))
}

/** Shows the inbox as JSON in an element of its own. */
function Inbox() {
  const { notifications, unreadCount, isLoading, actions } = useInbox('org_1')
  Object.assign(globalThis, { inboxActions: actions })
  const shown = notifications.map(({ id, displayBodyMessage, isUnread }) => ({
    id,
    text: displayBodyMessage,
    isUnread,
  }))
  return createElement('samp', null, JSON.stringify({ isLoading, unreadCount, notifications: shown }))
}

/** Shows the documents and people of the organization as JSON in an element of its own. */
function Lists() {
  const documents = useDocuments('org_1')
  const people = usePeople('org_1')
  const shown = {
    isLoading: documents.isLoading || people.isLoading,
    documents: documents.items.map(({ documentId, documentName }) => documentName ?? documentId),
    people: people.items.map(({ userId }) => userId),
  }
  return createElement('kbd', null, JSON.stringify(shown))
}

function App() {
  const [hasThreads, showThreads] = useState(false)
  Object.assign(globalThis, { showThreads })
  const [documentId, setDocumentId] = useState<string | undefined>('doc_1')
  Object.assign(globalThis, { setDocumentId })
  if (documentId === undefined) return null
  const props = { documentId, key: documentId }
  return createElement(
    Fragment,
    null,
    createElement(Room, props),
    createElement(Others, { documentId }),
    hasThreads && createElement(Threads, { documentId }),
    hasThreads && createElement(Inbox),
    hasThreads && createElement(Lists),
  )
}

/** Connects and renders the application. The page is empty until then. */
export function start(url: string, token: TokenSource): void {
  const connection = createClient({ url }).connect({ token })
  const root = createRoot(document.getElementById('root') as HTMLElement)
  root.render(
    createElement(StrictMode, null, createElement(PlenumProvider, { connection }, createElement(App))),
  )
}
