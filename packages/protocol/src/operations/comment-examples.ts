import { builtInStatuses, type CommentAnnotation } from '../resources/comment-annotations.ts'
import type { Comment } from '../resources/comments.ts'

const ada = { userId: 'user_1', name: 'Ada', initial: 'A', color: '#1864ab' }

export const exampleComment: Comment = {
  commentId: 126535,
  type: 'text',
  commentText: 'Is this number right?',
  from: ada,
  to: [],
  taggedUserContacts: [],
  status: 'added',
  attachments: [],
  reactionAnnotationIds: [],
  reactionAnnotations: [],
  createdAt: 1738695077691,
  lastUpdated: '2025-02-04T18:51:17.691Z',
}

export const exampleAnnotation: CommentAnnotation = {
  annotationId: '-O0mpUziLcBwzkXRBCAc',
  annotationNumber: 1,
  type: 'comment',
  commentType: 'manual',
  comments: [exampleComment],
  from: ada,
  status: builtInStatuses.default,
  visibilityConfig: { type: 'public' },
  involvedUserIds: ['user_1'],
  mentionedUserIds: [],
  metadata: { apiKey: 'key_1', organizationId: 'org_1', documentId: 'doc_1' },
  createdAt: 1738695077691,
  lastUpdated: 1738695077691,
}
