import { ApiError, type Operations } from '@plenum/protocol'
import { reply } from '../../calls/answers/reply.ts'
import type { Handlers } from '../../calls/call.ts'
import * as comments from '../../store/comments/comments.ts'
import { requireLevel } from '../shared/levels.ts'
import { appendComments, readComments } from './added-comments.ts'
import { deniedMessage, notifies, refuseFields, requireAuthorship } from './acting-user.ts'
import { ensureAuthors, findDenied, findExisting, requireExisting } from './authors.ts'
import { commentOutcomes } from './outcomes.ts'
import { loadProfiles, presentComment } from './present.ts'
import { reactionHandlers } from './reactions.ts'
import { involvedIn, requireAnnotation, requireThread, withComments } from './thread.ts'
import { ThreadChanges } from './thread-changes.ts'
import { updateComments } from './update-comments.ts'

export const commentHandlers: Handlers<Operations['comments']> = {
  ...reactionHandlers,

  async add(call) {
    const { input, caller, db, now } = call
    const { apiKey } = caller
    const { organizationId, documentId, createOrganization, createDocument } = input
    const read = readComments(input.commentData, 'commentData', caller.user)
    refuseFields(caller.user, input, ['createOrganization', 'createDocument', 'verifyUserPermissions'])
    const create = { organization: createOrganization, document: createDocument }
    await requireLevel(db, apiKey, { organizationId, type: 'document', id: documentId }, create, now)
    const before = await requireAnnotation(call, input, 'write')
    const authors = read.map(({ author }) => author)
    await ensureAuthors(db, apiKey, authors, now)
    const named = read.flatMap((comment) => comment.named)
    const ids = [...named.map(({ userId }) => userId), ...read.flatMap(({ braced }) => braced)]
    const existingUsers = await findExisting(db, apiKey, ids)
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
    const { input, caller, db, version } = call
    const { annotationId, commentIds, userIds } = input
    const { comments: stored, reactions } = await requireThread(call, input, 'read')
    const ofAuthors = stored.filter(({ authorId }) => !userIds || userIds.includes(authorId))
    const byId = new Map(ofAuthors.map((comment) => [comment.commentId, comment]))
    const chosen = commentIds ? [...new Set(commentIds)].map((id) => byId.get(id)) : ofAuthors
    const named = ofAuthors.flatMap(({ authorId, content }) => [authorId, ...content.mentioned])
    const users = new Set([...named, ...reactions.map(({ userId }) => userId)])
    const profile = await loadProfiles(db, caller.apiKey, [...users])
    const data = chosen.map((comment) =>
      comment ? presentComment(version, annotationId, comment, reactions, profile) : null,
    )
    return version === 'v1' ? data : reply(data, { message: 'Comments retrieved successfully.' })
  },

  update: updateComments,

  async delete(call) {
    const { input, caller, db, now } = call
    const { organizationId } = input
    const { annotation, comments: stored, users } = await requireThread(call, input, 'write')
    const ids = [...new Set(input.commentIds ?? stored.map(({ commentId }) => commentId))]
    const removed = stored.filter(({ commentId }) => ids.includes(commentId))
    const removedIds = removed.map(({ commentId }) => commentId)
    for (const { authorId } of removed) requireAuthorship(caller.user, authorId, 'delete a comment')
    if (removed.length > 0) {
      const changes = await ThreadChanges.begin(call, input)
      for (const comment of removed) {
        const actorId = caller.user?.userId
        changes.record({
          name: 'comment.delete',
          annotation,
          actorId,
          notifies: notifies(caller.user, false),
          comment,
        })
      }
      const left = stored.filter((comment) => !removed.includes(comment))
      if (left.length === 0) {
        changes.remove(annotation)
        const actorId = caller.user?.userId
        changes.record({ name: 'comment_annotation.delete', annotation, actorId, notifies: false })
      } else {
        await comments.remove(db, caller.apiKey, organizationId, annotation, removedIds)
        const involved = involvedIn(annotation, left, users)
        await comments.setInvolved(db, caller.apiKey, organizationId, annotation, involved)
        changes.put({ ...withComments(annotation, left), lastUpdated: now })
      }
      await changes.save()
    }
    return commentOutcomes(ids, new Set(removedIds), 'Deleted successfully')
  },
}
