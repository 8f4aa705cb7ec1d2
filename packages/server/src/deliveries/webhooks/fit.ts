import type { WebhookData } from './webhook-data.ts'

/** A webhook stays below 256 KB with the fields that its payload adds. */
const maxBytes = 240 * 1024

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Leaves out what is least needed until the data is small enough. */
export function fitted(data: WebhookData): WebhookData {
  const shortenings = [withFewerComments, withoutUserLists, withOnlyIds]
  return shortenings.reduce((left, shorten) => {
    const excess = bytesOf(left) - maxBytes
    return excess > 0 ? shorten(left, excess) : left
  }, data)
}

function withFewerComments(data: WebhookData, excess: number): WebhookData {
  const { commentAnnotation } = data
  const { comments } = commentAnnotation ?? {}
  if (!comments) return data
  let removed = 0
  const last = comments.findIndex((comment) => (removed += bytesOf(comment)) >= excess)
  const left = last === -1 ? [] : comments.slice(last + 1)
  return { ...data, commentAnnotation: { ...commentAnnotation, comments: left, hasMoreComments: true } }
}

/** Lists whose length only the number of users limits. */
const userLists = [
  'subscribedUsers',
  'unsubscribedUsers',
  'involvedUserIds',
  'mentionedUserIds',
  'reactionAnnotations',
  'reactionAnnotationIds',
  'to',
  'taggedUserContacts',
]

const without = (names: readonly string[], value: object) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const only = (names: readonly string[], value: object) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))

function withoutUserLists(data: WebhookData): WebhookData {
  const {
    usersOrganizationNotificationsConfig: _organization,
    usersDocumentNotificationsConfig: _document,
    ...rest
  } = data
  const { commentAnnotation, targetComment } = rest
  return {
    ...rest,
    ...(commentAnnotation && { commentAnnotation: without(userLists, commentAnnotation) }),
    ...(targetComment && { targetComment: without(userLists, targetComment) }),
    isShortened: true,
  }
}

const annotationIds = ['annotationId', 'annotationNumber', 'hasMoreComments', 'isDeleted']

function withOnlyIds(data: WebhookData): WebhookData {
  const { commentAnnotation, targetComment, metadata, visibility } = data
  const { organizationId, documentId } = metadata
  return {
    ...data,
    ...(commentAnnotation && { commentAnnotation: only(annotationIds, commentAnnotation) }),
    ...(targetComment && { targetComment: only(['commentId'], targetComment) }),
    ...(visibility && { visibility: { type: visibility.type } }),
    metadata: { ...metadata, document: { documentId }, organization: { organizationId } },
    accessDeniedUsers: data.accessDeniedUsers.slice(0, 100),
    isShortened: true,
  }
}
