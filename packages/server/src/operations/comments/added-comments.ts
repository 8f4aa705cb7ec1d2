import { ApiError, type CommentData, type UserInput } from '@plenum/protocol'
import type { CallingUser } from '../../calls/call.ts'
import { newCommentId } from '../../access/ids.ts'
import { countTags } from '../../platform/safe-html.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { CommentContent, StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import { commentSize, type InvolvedUser } from '../../store/comments/comments.ts'
import { checkThread, withNewest } from '../../threads/counters.ts'
import { refuseFields } from '../shared/calling-user.ts'
import { authorOf } from './acting-user.ts'
import type { NamedUser } from './authors.ts'
import { bracedIds, contentOf, mentionedIn, readContent } from './comment-content.ts'

/** A comment of the input, checked, before its place in an annotation is known. */
export interface ReadComment {
  sent: CommentData
  author: UserInput
  content: CommentContent
  /** Ids between double braces in the text. */
  braced: readonly string[]
  /** Users whom the comment names; they must exist. */
  named: NamedUser[]
}

/** How many comments, HTML tags and mentions one call may add: they are checked while other writes wait. */
const maxPerCall = { comments: 2_000, tags: 5_000, mentions: 4_000 }

/** Reads the comments of a call. */
export class CommentReader {
  readonly #user: CallingUser | undefined
  readonly #left = { ...maxPerCall }

  constructor(user: CallingUser | undefined) {
    this.#user = user
  }

  /** Reads comments. `path` names their list in error messages. */
  async read(sent: readonly CommentData[], path: string): Promise<ReadComment[]> {
    const read: ReadComment[] = []
    for (const [index, comment] of sent.entries()) {
      await yieldIfLate()
      read.push(this.#readOne(comment, `${path}[${index}].`))
    }
    return read
  }

  #readOne(sent: CommentData, at: string): ReadComment {
    refuseFields(this.#user, sent, backendFields, at)
    const author = authorOf(this.#user, sent.from, at)
    this.#spend('comments', 1)
    this.#spend('tags', countTags(sent.commentHtml ?? ''))
    const content = contentOf(readContent(sent, at), at)
    const braced = bracedIds(content, at)
    this.#spend('mentions', braced.length + content.mentioned.length)
    const named = content.mentioned.map((userId) => ({ userId, field: `${at}taggedUserContacts` }))
    return { sent, author, content, braced, named }
  }

  #spend(what: keyof typeof maxPerCall, count: number): void {
    this.#left[what] -= count
    if (this.#left[what] >= 0) return
    throw new ApiError('INVALID_ARGUMENT', `One call can add at most ${maxPerCall[what]} ${what}.`)
  }
}

const backendFields = ['createdAt', 'lastUpdated', 'triggerNotification', 'triggerActivities'] as const

interface Place {
  seq: number
  now: number
  /** Ids of comments that the annotation has. */
  usedIds: ReadonlySet<number>
  existingUsers: ReadonlySet<string>
}

/** Appends comments to an annotation. Returns the annotation with its new counters, the comments, and the involved users. */
export function appendComments(
  annotation: StoredAnnotation,
  read: readonly ReadComment[],
  { seq, now, usedIds, existingUsers }: Place,
): { annotation: StoredAnnotation; added: StoredComment[]; involved: InvolvedUser[] } {
  const ids = new Set(usedIds)
  const changed = { ...annotation }
  const involved: InvolvedUser[] = []
  const added = read.map(({ sent, author, content }): StoredComment => {
    const mentioned = mentionedIn(content, existingUsers)
    const comment: StoredComment = {
      commentId: takeId(ids, sent.commentId),
      position: ++changed.lastPosition,
      seq,
      authorId: author.userId,
      content: { ...content, mentioned },
      createdAt: sent.createdAt ?? now,
      lastUpdated: sent.lastUpdated ?? now,
    }
    changed.comments += 1
    changed.commentBytes += commentSize(comment)
    Object.assign(changed, withNewest(changed, comment))
    involved.push({ userId: author.userId, involvement: 'commented' })
    involved.push(...mentioned.map((userId) => ({ userId, involvement: 'mentioned' as const })))
    return comment
  })
  checkThread(changed)
  return { annotation: changed, added, involved }
}

function takeId(used: Set<number>, sent: number | undefined): number {
  if (sent !== undefined && used.has(sent)) {
    throw new ApiError('ALREADY_EXISTS', `Comment ${sent} already exists.`)
  }
  let id = sent ?? newCommentId()
  while (used.has(id)) id = newCommentId()
  used.add(id)
  return id
}
