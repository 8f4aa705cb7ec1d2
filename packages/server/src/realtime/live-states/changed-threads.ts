import type { StoredAudience, Visible } from '../../store/comments/audience.ts'
import type { SessionUser } from '../../access/sessions/session-access.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { RefFrames } from '../sockets/ref-frames.ts'

/** An annotation that changed. */
export interface ChangedThread {
  annotationId: string
  /** The annotation as clients receive it. Undefined: it is large, and clients load it with a call. */
  json: string | undefined
  audience: StoredAudience | null
  /** The numbers of the changes that added it, and that changed its audience last. */
  createdSeq: number
  audienceSeq: number
}

/** Who may see an annotation, or could see it before it was deleted. */
export type ThreadAudience = Pick<ChangedThread, 'annotationId' | 'audience'>

/** What happened to the annotations of a document between two positions. */
export interface ChangedThreads {
  changed: readonly ChangedThread[]
  /** Annotations that were deleted, with the audience that they had. */
  removed: readonly ThreadAudience[]
  /** By user: the ids of the changed annotations that have a comment which the user has not seen. */
  unread: ReadonlyMap<string, ReadonlySet<string>>
  /** More changed than one message should have. Then both lists are empty, and clients load the annotations again. */
  isTooMany: boolean
}

/** What an open document reads of its annotations. */
export interface ThreadReads {
  /** The annotations that changed after `from`, up to and including `to`, as the clients of these users receive them. */
  readChanged(
    apiKey: string,
    document: DocumentRef,
    range: { from: number; to: number },
    userIds: readonly string[],
  ): Promise<ChangedThreads>
  /** Those of the annotations with these numbers in which nothing is unread for the user. */
  readViewed(
    apiKey: string,
    document: DocumentRef,
    userId: string,
    numbers: readonly number[],
  ): Promise<ThreadAudience[]>
}

/** The changes that a client may see. */
export interface VisibleThreads {
  changed: readonly ChangedThread[]
  removed: readonly string[]
  /** Those of `changed` that are unread for the user of the client. */
  unread: readonly string[]
  /** Equal for clients that may see the same changes. */
  key: string
  /** The client may see none of the changes, so it must not even learn that there were some. */
  isEmpty: boolean
}

/**
 * Leaves only the changes that a client may see. An annotation that the client could see before, and may not see any more, is a
 * removed one for it. Returns undefined if this is not known of an annotation: then the client loads all annotations again.
 */
export async function filterThreads(
  { changed, removed, unread: unreadByUser }: ChangedThreads,
  from: number,
  session: SessionUser,
  visible: Visible | undefined,
): Promise<VisibleThreads | undefined> {
  const audiences = [...changed, ...removed].flatMap(({ audience }) =>
    audience?.former ? [audience, audience.former.audience] : [audience],
  )
  const isVisible = visible && audiences.some((one) => one !== null) ? await visible(audiences) : () => true
  const shown = changed.filter(({ audience }) => isVisible(audience))
  const hidden: ThreadAudience[] = [
    ...changed.filter(({ createdSeq, audienceSeq }) => createdSeq <= from && audienceSeq > from),
    ...removed.filter(({ audience }) => audience?.former && audience.former.until > from),
  ].filter(({ audience }) => !isVisible(audience))
  const wasVisible = ({ audience }: ThreadAudience) => audience?.former && isVisible(audience.former.audience)
  const isUnknown = ({ audience }: ThreadAudience) => !audience?.former || audience.former.since > from
  if (hidden.some((thread) => !wasVisible(thread) && isUnknown(thread))) return undefined
  const gone = idsOf([
    ...removed.filter(({ audience }) => isVisible(audience)),
    ...hidden.filter((thread) => wasVisible(thread)),
  ])
  const isEmpty = shown.length === 0 && gone.length === 0
  const unreadIds = session === 'backend' ? undefined : unreadByUser.get(session.userId)
  const unread = idsOf(shown).filter((id) => unreadIds?.has(id))
  const key = JSON.stringify([idsOf(shown), gone, unread])
  return { changed: shown, removed: gone, unread, key, isEmpty }
}

/** The ids of those annotations that a client may see. */
export async function visibleIds(
  threads: readonly ThreadAudience[],
  visible: Visible | undefined,
): Promise<string[]> {
  const isVisible = visible ? await visible(threads.map(({ audience }) => audience)) : () => true
  return idsOf(threads.filter(({ audience }) => isVisible(audience)))
}

const idsOf = (threads: readonly { annotationId: string }[]) =>
  threads.map(({ annotationId }) => annotationId)

/** The fields of a message with these changes. */
export function fieldsOf({ changed, removed, unread }: VisibleThreads): string {
  const large = idsOf(changed.filter(({ json }) => json === undefined))
  const sent = changed.flatMap(({ json }) => json ?? [])
  const ids = `"removed":${JSON.stringify(removed)},"large":${JSON.stringify(large)}`
  return `"reset":false,"changed":[${sent.join()}],${ids},"unread":${JSON.stringify(unread)},"viewed":[]`
}

/** The message that the user has seen all comments of these annotations. It has no position: views are not numbered. */
export const viewedFrames = (annotationIds: readonly string[]): RefFrames =>
  new RefFrames(
    'threads',
    `"reset":false,"changed":[],"removed":[],"large":[],"unread":[],"viewed":${JSON.stringify(annotationIds)}`,
  )

/** The fields of a message after which the client loads the annotations again. */
export const reloadFields = '"reset":true,"changed":[],"removed":[],"large":[],"unread":[],"viewed":[]'

/** Builds each message once, however many clients get it. */
export class ThreadFrames {
  readonly #positionField: string
  readonly #frames = new Map<string, RefFrames>()

  constructor(positionField: string) {
    this.#positionField = positionField
  }

  of(threads: VisibleThreads, withPosition: boolean): RefFrames {
    const name = `${withPosition} ${threads.key}`
    const known = this.#frames.get(name)
    if (known) return known
    const fields = fieldsOf(threads)
    const frames = new RefFrames('threads', withPosition ? `${this.#positionField},${fields}` : fields)
    this.#frames.set(name, frames)
    return frames
  }
}
