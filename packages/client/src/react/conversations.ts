import { useCallback, useMemo } from 'react'
import { type Inbox, type InboxState, unloadedInbox } from '../live/inbox/inbox.ts'
import { type Threads, type ThreadsState, unloadedThreads } from '../live/threads/threads.ts'
import { notMounted, useConnection, useDocumentLease, useStore } from './shared.ts'

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

/**
 * Returns the notifications of the user in an organization, newest first, and the functions that change and load them. Renders
 * the component when a notification arrives or changes.
 *
 * The functions reject with an `ApiError` when they fail. Handle it: a rejection that you ignore is an unhandled rejection.
 */
export function useInbox(organizationId: string): InboxState & { actions: InboxActions } {
  const inbox = useConnection().inbox(organizationId)
  const state = useStore(
    useCallback((onChange: () => void) => inbox.subscribe(onChange), [inbox]),
    () => inbox.state,
    () => unloadedInbox,
  )
  const actions = useMemo(
    (): InboxActions => ({
      markRead: (...ids) => inbox.markRead(...ids),
      loadMore: () => inbox.loadMore(),
    }),
    [inbox],
  )
  return useMemo(() => ({ ...state, actions }), [state, actions])
}

/** The methods of `Inbox` that change or load notifications. */
export type InboxActions = Pick<Inbox, 'markRead' | 'loadMore'>
