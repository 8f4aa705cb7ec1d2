import { ApiError, type Operations } from '@plenum/protocol'
import { reply } from '../../calls/answers/reply.ts'
import type { Handlers } from '../../calls/call.ts'
import * as comments from '../../store/comments/comments.ts'
import { unique } from '../shared/batches.ts'
import { requireLevel } from '../shared/levels.ts'
import { appendComments, CommentReader } from './added-comments.ts'
import { refuseFields } from '../shared/calling-user.ts'
import { deniedMessage, notifies, requireAuthorship } from './acting-user.ts'
import { ensureAuthors, findDenied, findExisting, requireExisting } from './authors.ts'
import { commentOutcomes } from './outcomes.ts'
import { loadProfiles } from '../../threads/shown-annotations.ts'
import { presentComments } from './present.ts'
import { reactionHandlers } from './reactions.ts'
import { requireAnnotation, requireThread } from './thread.ts'
import { removeComments } from '../../threads/remove-comments.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'
import { updateComments } from './update-comments.ts'

export const commentHandlers: Handlers<Operations['comments']> = {
  ...reactionHandlers,

  async add(call) {
    const { input, caller, db, now, signal } = call
    const { apiKey } = caller
    const { organizationId, documentId, createOrganization, createDocument } = input
    const level = { organizationId, type: 'document', id: documentId } as const
    const read = await new CommentReader(caller.user).read(input.commentData, 'commentData')
    refuseFields(caller.user, input, ['createOrganization', 'createDocument', 'verifyUserPermissions'])
    const create = { organization: createOrganization, document: createDocument }
    await requireLevel(db, apiKey, level, create, now, signal)
    const before = await requireAnnotation(call, input, 'write')
    const authors = read.map(({ author }) => author)
    await ensureAuthors(db, apiKey, authors, now)
    const named = read.flatMap((comment) => comment.named)
    const ids = [...named.map(({ userId }) => userId), ...read.flatMap(({ braced }) => braced)]
    const existingUsers = await findExisting(call, organizationId, ids)
    requireExisting(existingUsers, named)
    if (input.verifyUserPermissions) {
      const authorIds = authors.map(({ userId }) => userId)
      const denied = await findDenied(db, caller, input, authorIds, now)
      if (denied.size > 0) throw new ApiError('PERMISSION_DENIED', deniedMessage)
    }

    const usedIds = await comments.findIds(db, apiKey, organizationId, before)
    const changes = await ThreadChanges.begin(call, input)
    const place = { seq: changes.seq, now, usedIds, existingUsers }
    const { annotation, added, involved } = appendComments(before, read, place)
    changes.put({ ...annotation, lastUpdated: now })
    changes.involve(annotation, involved)
    for (const [index, comment] of added.entries()) {
      changes.putComment(annotation, comment)
      changes.record({
        name: 'comment.add',
        annotation,
        actorId: comment.authorId,
        notifies: notifies(caller.user, read[index]?.sent.triggerNotification),
        triggerActivities: read[index]?.sent.triggerActivities,
        comment,
      })
    }
    await changes.save()
    return added.map(({ commentId }) => commentId)
  },

  async get(call) {
    const {
      input,
      caller,
      db,
      version,
      services: { longReads },
    } = call
    const { annotationId, userIds } = input
    const reading = longReads.open(caller, call.abandoned)
    const { pause } = reading
    await reading.enter()
    try {
      const { comments: stored, reactions } = await reading.query(() => requireThread(call, input, 'read'))
      const ofAuthors = stored.filter(({ authorId }) => !userIds || userIds.includes(authorId))
      const byId = new Map(ofAuthors.map((comment) => [comment.commentId, comment]))
      const ids = input.commentIds && [...new Set(input.commentIds)]
      const chosen = ids ? ids.map((id) => byId.get(id)) : ofAuthors
      const named = chosen.flatMap((comment) =>
        comment ? [comment.authorId, ...comment.content.mentioned] : [],
      )
      const users = unique([...named, ...reactions.map(({ userId }) => userId)])
      const profile = await loadProfiles(db, caller.apiKey, users, reading)
      const thread = { version, annotationId, comments: chosen, reactions, profile, pause }
      const { comments: data } = await presentComments(thread)
      return version === 'v1' ? data : reply(data, { message: 'Comments retrieved successfully.' })
    } finally {
      reading.close()
    }
  },

  update: updateComments,

  async delete(call) {
    const { input, caller } = call
    const thread = await requireThread(call, input, 'write')
    const ids = [...new Set(input.commentIds ?? thread.comments.map(({ commentId }) => commentId))]
    const removed = thread.comments.filter(({ commentId }) => ids.includes(commentId))
    for (const { authorId } of removed) requireAuthorship(caller.user, authorId, 'delete a comment')
    if (removed.length > 0) {
      const changes = await ThreadChanges.begin(call, input)
      const event = { actorId: caller.user?.userId, notifies: notifies(caller.user) }
      await removeComments(call, changes, input.organizationId, thread, removed, event)
      await changes.save()
    }
    const removedIds = new Set(removed.map(({ commentId }) => commentId))
    return commentOutcomes(ids, removedIds, 'Deleted successfully')
  },
}
