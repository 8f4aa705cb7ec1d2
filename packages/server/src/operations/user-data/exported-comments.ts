import type { ExportedComment } from '@plenum/protocol'
import type { Call } from '../../calls/call.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { type Contents, findContents, type ReactionIn, refKey } from '../../store/comments/comments.ts'
import { listThreadsOf } from '../../store/comments/user-threads.ts'
import type { Cursor } from '../../store/engine/db.ts'
import { loadProfiles, presentComment } from '../../threads/shown-annotations.ts'
import type { Window } from '../shared/paging.ts'

interface Found {
  annotation: StoredAnnotation
  comment: StoredComment
  reactions: readonly ReactionIn[]
}

/** The comments that a user wrote or is mentioned in, by document, annotation and position. */
export function listCommentsOf(
  { db, caller: { apiKey }, version }: Pick<Call, 'db' | 'version'> & { caller: { apiKey: string } },
  of: { organizationId: string; userId: string },
  reading: LongRead,
) {
  const { organizationId, userId } = of
  return {
    async read({ limit, after }: Window): Promise<Found[]> {
      const found: Found[] = []
      let [documentId, number, position] = (after ?? ['', 0, 0]) as [string, number, number]
      // One annotation after the other: each may have 2 MiB of comments.
      for (;;) {
        const [ref] = await reading.query(() => listThreadsOf(db, apiKey, of, { documentId, number }, 1))
        if (!ref) return found
        if (ref.documentId !== documentId || ref.number !== number) position = 0
        ;({ documentId, number } = ref)
        const [annotation] = await reading.query(() =>
          annotations.findMany(db, apiKey, organizationId, [ref]),
        )
        if (annotation) {
          const contents = await reading.query(() => findContents(db, apiKey, organizationId, [ref]))
          const { comments, reactions } = contents.get(refKey(ref)) as Contents
          for (const comment of comments) {
            const isTheirs = comment.authorId === userId || comment.content.mentioned.includes(userId)
            if (comment.position <= position || !isTheirs) continue
            found.push({ annotation, comment, reactions })
            if (found.length === limit) return found
          }
        }
        number += 1
        position = 0
      }
    },
    cursor: ({ annotation: { documentId, number }, comment: { position } }: Found): Cursor => [
      documentId,
      number,
      position,
    ],
    async present(rows: readonly Found[]): Promise<ExportedComment[]> {
      const ids = rows.flatMap(({ comment, reactions }) => [
        comment.authorId,
        ...comment.content.mentioned,
        ...reactions.map((reaction) => reaction.userId),
      ])
      const profile = await loadProfiles(db, apiKey, [...new Set(ids)], reading)
      const shown: ExportedComment[] = []
      for (const { annotation, comment, reactions } of rows) {
        await reading.pause()
        const { documentId, annotationId } = annotation
        const one = presentComment(version, annotationId, comment, reactions, profile)
        shown.push({ documentId, annotationId, ...one })
      }
      return shown
    },
  }
}
