import { ApiError, commentLimits, type Operations } from '@plenum/protocol'
import type { Call, Handlers } from '../../calls/call.ts'
import * as reactions from '../../store/comments/reactions.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { actingUserId } from '../shared/calling-user.ts'
import { notifies } from './acting-user.ts'
import { ensureAuthors } from './authors.ts'
import { requireThread } from './thread.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'

type Family = Operations['comments']

export const reactionHandlers: Handlers<Pick<Family, 'addReaction' | 'deleteReaction'>> = {
  addReaction: (call) => react(call, 'comment.reaction_add'),
  deleteReaction: (call) => react(call, 'comment.reaction_delete'),
}

async function react(
  call: Call<Family['addReaction']>,
  name: 'comment.reaction_add' | 'comment.reaction_delete',
): Promise<null> {
  const { input, caller, db, now } = call
  const { apiKey } = caller
  const { organizationId, commentId, icon } = input
  const userId = actingUserId(caller.user, input.userId)
  const { annotation, comments, reactions: before } = await requireThread(call, input, 'write')
  const comment = comments.find((one) => one.commentId === commentId)
  if (!comment) throw doesNotExist('Comment')
  const reaction = { ...annotation, commentId, icon, userId }
  const isAdded = name === 'comment.reaction_add'
  if (isAdded && before.length >= commentLimits.reactionsPerAnnotation) {
    throw new ApiError(
      'INVALID_ARGUMENT',
      `An annotation can have at most ${commentLimits.reactionsPerAnnotation} reactions.`,
    )
  }
  await ensureAuthors(db, apiKey, [{ userId }], now)
  const isChanged = isAdded
    ? await reactions.add(db, apiKey, organizationId, reaction, now)
    : await reactions.remove(db, apiKey, organizationId, reaction)
  if (!isChanged) return null
  const changes = await ThreadChanges.begin(call, input)
  changes.put(annotation)
  const event = { actorId: userId, notifies: notifies(caller.user), comment, payload: { icon } }
  changes.record({ name, annotation, ...event })
  await changes.save()
  return null
}
