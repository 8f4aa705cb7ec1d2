import type {
  CommentAnnotationInput,
  CommentData,
  Priority,
  YjsPosition,
  Status,
  Visibility,
} from '@plenum/protocol'
import { parseAudience, type StoredAudience } from './audience.ts'
import type { AnnotationTable, CommentTable } from '../schema/comment-tables.ts'
import { parse } from '../engine/json.ts'

/** The fields of an annotation that are stored as JSON. Users are stored by id; their names come from their profiles. */
export interface AnnotationData extends Pick<
  CommentAnnotationInput,
  'location' | 'targetElement' | 'context' | 'suggestion' | 'commentType' | 'pageInfo'
> {
  type: 'comment' | 'suggestion'
  status: Status
  priority?: Priority
  visibility?: Visibility
  statusUpdatedByUserId?: string
  targetEditor?: StoredRange
  sourceType?: 'rest-api'
}

/** The range of an editor that an annotation is about. */
export interface StoredRange {
  editorId: string
  /** Tells the editor from another one with the same id, in whose document the positions may exist too. */
  editorCreatedAt: number
  contentKey: string
  anchor: YjsPosition
  head: YjsPosition
  quote: string
}

/** The content of a comment that is stored as JSON. */
export interface CommentContent extends Pick<
  CommentData,
  | 'commentText'
  | 'commentHtml'
  | 'taggedUserContacts'
  | 'context'
  | 'attachments'
  | 'isCommentResolverUsed'
  | 'isCommentTextAvailable'
> {
  /** Users whom the comment mentions, in the text or as tagged contacts. */
  mentioned: readonly string[]
  editedAt?: number
}

export interface StoredComment {
  commentId: number
  position: number
  seq: number
  authorId: string
  content: CommentContent
  createdAt: number
  lastUpdated: number
}

/** Where the annotation is in its document, and the document. */
export interface AnnotationRef {
  documentId: string
  number: number
}

export interface StoredAnnotation extends AnnotationRef {
  annotationId: string
  seq: number
  createdSeq: number
  audienceSeq: number
  authorId: string
  assigneeId: string | null
  resolvedBy: string | null
  locationId: string | null
  /** How many comments there are, and their size as JSON. */
  comments: number
  commentBytes: number
  lastPosition: number
  lastCommentSeq: number
  lastCommentBy: string
  otherCommentSeq: number
  audience: StoredAudience | null
  data: AnnotationData
  createdAt: number
  lastUpdated: number
}

export const toAnnotation = (row: AnnotationTable): StoredAnnotation => ({
  documentId: row.document_id,
  number: row.number,
  annotationId: row.annotation_id,
  seq: row.seq,
  createdSeq: row.created_seq,
  audienceSeq: row.audience_seq,
  authorId: row.author_id,
  assigneeId: row.assignee_id,
  resolvedBy: row.resolved_by,
  locationId: row.location_id,
  comments: row.comments,
  commentBytes: row.comment_bytes,
  lastPosition: row.last_position,
  lastCommentSeq: row.last_comment_seq,
  lastCommentBy: row.last_comment_by,
  otherCommentSeq: row.other_comment_seq,
  audience: parseAudience(row.audience, row.author_id),
  data: parse(row.data),
  createdAt: row.created_at,
  lastUpdated: row.last_updated,
})

export const toComment = (row: CommentTable): StoredComment => ({
  commentId: row.comment_id,
  position: row.position,
  seq: row.seq,
  authorId: row.author_id,
  content: parse(row.data),
  createdAt: row.created_at,
  lastUpdated: row.last_updated,
})

/** Which comments of an annotation are the newest: of all users, and of those who did not write the newest one. */
export type NewestComments = Pick<StoredAnnotation, 'lastCommentSeq' | 'lastCommentBy' | 'otherCommentSeq'>

/** The newest comment that the user did not write: the number of the document's change that added it; 0 if there is none. */
export const newestCommentFor = (
  { lastCommentSeq, lastCommentBy, otherCommentSeq }: NewestComments,
  userId: string,
): number => (lastCommentBy === userId ? otherCommentSeq : lastCommentSeq)

/** The first annotations with no more comments and bytes than this together, but at least one. */
export function firstFew<T extends Pick<StoredAnnotation, 'comments' | 'commentBytes'>>(
  annotations: readonly T[],
  max: { comments: number; bytes: number },
): T[] {
  let [comments, bytes] = [0, 0]
  const end = annotations.findIndex((annotation, index) => {
    comments += annotation.comments
    bytes += annotation.commentBytes
    return index > 0 && (comments > max.comments || bytes > max.bytes)
  })
  return annotations.slice(0, end === -1 ? undefined : end)
}
