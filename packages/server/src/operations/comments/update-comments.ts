import type { Operations } from '@plenum/protocol'
import type { Call, CallingUser } from '../../calls/call.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { StoredComment } from '../../store/comments/annotation.ts'
import { setInvolved } from '../../store/comments/comments.ts'
import { ensureAuthors, findExisting, requireExisting } from './authors.ts'
import { denied, refuseFields } from '../shared/calling-user.ts'
import { notifies } from './acting-user.ts'
import { bracedIds, contentOf, mentionedIn, readContent, type SentContent } from './comment-content.ts'
import { commentOutcomes } from './outcomes.ts'
import { involvedIn, withComments } from '../../threads/counters.ts'
import { requireThread } from './thread.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'

type Update = Operations['comments']['update']

export async function updateComments(call: Call<Update>) {
  const { input, caller, db, now } = call
  const { organizationId, updatedData } = input
  const { annotation, comments, users } = await requireThread(call, input, 'write')
  const ids = [...new Set(input.commentIds)]
  const found = comments.filter(({ commentId }) => ids.includes(commentId))
  if (found.length === 0) return commentOutcomes(ids, new Set(), done)

  const { from } = updatedData
  const { user } = caller
  refuseFields(user, updatedData, ['from'], 'updatedData.')
  refuseFields(user, input, ['triggerNotification'])
  for (const { authorId } of found) requireOwn(user, authorId)
  if (from) await ensureAuthors(db, caller.apiKey, [from], now)
  const read = readContent(updatedData, 'updatedData.')
  const changed = new Map<number, StoredComment>()
  for (const comment of found) {
    await yieldIfLate()
    changed.set(comment.commentId, await changeComment(call, read, comment))
  }
  const all = comments.map((comment) => changed.get(comment.commentId) ?? comment)
  const changes = await ThreadChanges.begin(call, input)
  const after = { ...withComments(annotation, all), lastUpdated: now }
  changes.put(after)
  for (const comment of changed.values()) {
    changes.putComment(after, comment)
    changes.record({
      name: 'comment.update',
      annotation: after,
      actorId: user?.userId ?? comment.authorId,
      notifies: notifies(user, input.triggerNotification),
      comment,
    })
  }
  await changes.save()
  await setInvolved(db, caller.apiKey, organizationId, after, involvedIn(after, all, users))
  return commentOutcomes(ids, new Set(changed.keys()), done)
}

/** Nobody writes in the name of another user. */
function requireOwn(user: CallingUser | undefined, authorId: string): void {
  if (user && user.userId !== authorId) throw denied('Only the author can change a comment.')
}

const done = 'Updated successfully'

async function changeComment(
  call: Call<Update>,
  read: SentContent,
  comment: StoredComment,
): Promise<StoredComment> {
  const {
    input: { updatedData, organizationId },
    now,
  } = call
  const content = contentOf(read, 'updatedData.', comment.content)
  const named = content.mentioned.map((userId) => ({ userId, field: 'updatedData.taggedUserContacts' }))
  const braced = bracedIds(content, 'updatedData.')
  const existing = await findExisting(call, organizationId, [...content.mentioned, ...braced])
  // A user who was mentioned before may be gone by now. Only the sent mentions must exist.
  if (updatedData.taggedUserContacts) requireExisting(existing, named)
  const mentioned = mentionedIn(content, existing).filter((id) => existing.has(id))
  return {
    ...comment,
    authorId: updatedData.from?.userId ?? comment.authorId,
    content: { ...content, mentioned, editedAt: now },
    lastUpdated: now,
  }
}
