import { ApiError, type CommentData, commentLimits } from '@plenum/protocol'
import type { CommentContent } from '../../store/comments/annotation.ts'
import { countTags, escapeHtml, safeHtml, unescapeHtml } from '../../platform/safe-html.ts'
import { unique } from '../shared/batches.ts'

/** The fields that callers send. */
export type SentContent = Pick<CommentData, Exclude<keyof CommentContent, 'mentioned' | 'editedAt'>>

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

const fields = [
  'commentText',
  'commentHtml',
  'taggedUserContacts',
  'context',
  'attachments',
  'isCommentResolverUsed',
  'isCommentTextAvailable',
] as const satisfies readonly (keyof SentContent)[]

/** The sent fields with safe HTML. `path` names the comment in error messages. */
export function readContent(sent: SentContent, path: string): SentContent {
  const { commentHtml = '' } = sent
  const { htmlTags } = commentLimits
  if (countTags(commentHtml) > htmlTags)
    throw invalid(`${path}commentHtml must have at most ${htmlTags} tags.`)
  const picked = fields.flatMap((field) => (sent[field] === undefined ? [] : [[field, sent[field]]]))
  return { ...Object.fromEntries(picked), ...(commentHtml !== '' && { commentHtml: safeHtml(commentHtml) }) }
}

/** The content of a comment as it is stored: the read fields replace those of the comment before. */
export function contentOf(read: SentContent, path: string, before?: CommentContent): CommentContent {
  const content: CommentContent = { ...before, ...read, mentioned: [] }
  const { commentText, commentHtml, attachments, isCommentResolverUsed } = content
  const hasText = [commentText, commentHtml].some((text) => text !== undefined && text.trim() !== '')
  if (!hasText && !attachments?.length && !isCommentResolverUsed)
    throw invalid(`${path}commentText is required.`)
  return { ...content, mentioned: taggedIds(content) }
}

/** Users whom the comment names as tagged contacts. They must exist. */
const taggedIds = ({ taggedUserContacts = [] }: CommentContent): string[] =>
  unique(taggedUserContacts.flatMap(({ userId, contact }) => userId ?? contact?.userId ?? []))

const mention = /\{\{([^{}\n]{1,256})\}\}/g

/** What stands between double braces in the text. It is a mention if a user has that id, otherwise text. */
export function bracedIds({ commentText = '', commentHtml = '' }: CommentContent, path: string): string[] {
  const inText = Array.from(commentText.matchAll(mention), ([, id = '']) => id)
  const inHtml = Array.from(commentHtml.matchAll(mention), ([, id = '']) => unescapeHtml(id))
  const found = unique([...inText, ...inHtml])
  if (found.length > commentLimits.mentions) {
    throw invalid(`${path}commentText must mention at most ${commentLimits.mentions} users.`)
  }
  return found
}

/** Replaces the ids between double braces. */
export const replaceBraced = (
  content: SentContent,
  replaced: (id: string) => string,
): Pick<SentContent, 'commentText' | 'commentHtml'> => {
  const { commentText, commentHtml } = content
  return {
    ...(commentText !== undefined && {
      commentText: commentText.replaceAll(mention, (_, id: string) => `{{${replaced(id)}}}`),
    }),
    ...(commentHtml !== undefined && {
      commentHtml: commentHtml.replaceAll(
        mention,
        (_, id: string) => `{{${escapeHtml(replaced(unescapeHtml(id)))}}}`,
      ),
    }),
  }
}
