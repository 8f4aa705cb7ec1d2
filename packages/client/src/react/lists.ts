import { useCallback, useMemo } from 'react'
import { type LiveList, type LiveListState, unloadedList } from '../live/lists/live-list.ts'
import type { ListedDocument, Person } from '../operations/index.ts'
import { useConnection, useStore } from './shared.ts'

/** The methods of `LiveList` that load items. */
export type ListActions = Pick<LiveList<unknown>, 'loadMore'>

/**
 * Returns the documents of an organization that the user can open, newest first, and the function that loads further ones.
 * Renders the component when a document is added, renamed or removed, or when the access of the user changes.
 */
export const useDocuments = (
  organizationId: string,
): LiveListState<ListedDocument> & { actions: ListActions } =>
  useLiveList(useConnection().documents(organizationId))

/**
 * Returns the people of an organization, in the order of their ids, and the function that loads further ones. Renders the
 * component when somebody joins or leaves, or changes the name or the picture.
 */
export const usePeople = (organizationId: string): LiveListState<Person> & { actions: ListActions } =>
  useLiveList(useConnection().people(organizationId))

function useLiveList<Item>(list: LiveList<Item>): LiveListState<Item> & { actions: ListActions } {
  const state = useStore<LiveListState<Item>>(
    useCallback((onChange: () => void) => list.subscribe(onChange), [list]),
    () => list.state,
    () => unloadedList,
  )
  const actions = useMemo((): ListActions => ({ loadMore: () => list.loadMore() }), [list])
  return useMemo(() => ({ ...state, actions }), [state, actions])
}
