import { ApiError, type CommentData, commentLimits } from '@plenum/protocol'
import type { CommentContent } from '../../store/comments/annotation.ts'
import { safeHtml } from '../../platform/safe-html.ts'
import { unique } from '../shared/batches.ts'

type Sent = Pick<CommentData, Exclude<keyof CommentContent, 'mentioned' | 'editedAt'>>

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

/** The content of a comment as it is stored. `path` names the comment in error messages. */
export function contentOf(sent: Sent, path: string, before?: CommentContent): CommentContent {
  const content: CommentContent = {
    ...before,
    ...pick(sent),
    ...(sent.commentHtml !== undefined && { commentHtml: safeHtml(sent.commentHtml) }),
    mentioned: [],
  }
  const { commentText, commentHtml, attachments, isCommentResolverUsed } = content
  const hasText = [commentText, commentHtml].some((text) => text !== undefined && text.trim() !== '')
  if (!hasText && !attachments?.length && !isCommentResolverUsed)
    throw invalid(`${path}commentText is required.`)
  return { ...content, mentioned: taggedIds(content) }
}

const fields = [
  'commentText',
  'commentHtml',
  'taggedUserContacts',
  'context',
  'attachments',
  'isCommentResolverUsed',
  'isCommentTextAvailable',
] as const satisfies readonly (keyof Sent)[]

const pick = (sent: Sent): Partial<Sent> =>
  Object.fromEntries(fields.flatMap((field) => (sent[field] === undefined ? [] : [[field, sent[field]]])))

/** Users whom the comment names as tagged contacts. They must exist. */
const taggedIds = ({ taggedUserContacts = [] }: CommentContent): string[] =>
  unique(taggedUserContacts.flatMap(({ userId, contact }) => userId ?? contact?.userId ?? []))

/** What stands between double braces in the text. It is a mention if a user has that id, otherwise text. */
export function bracedIds({ commentText = '', commentHtml = '' }: CommentContent, path: string): string[] {
  const found = new Set<string>()
  for (const [, id = ''] of `${commentText}\n${commentHtml}`.matchAll(/\{\{([^{}\n]{1,256})\}\}/g))
    found.add(id)
  if (found.size > commentLimits.mentions) {
    throw invalid(`${path}commentText must mention at most ${commentLimits.mentions} users.`)
  }
  return [...found]
}
