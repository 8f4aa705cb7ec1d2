import { ApiError, type CommentData, commentLimits } from '@plenum/protocol'
import type { CommentContent } from '../../store/comments/annotation.ts'
import { mentionCandidates, mentionsIn, replaceMentions } from '../../platform/mentions.ts'
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

/** A text may have braces for other reasons, and one pair of braces several candidates. */
const maxCandidates = 4 * commentLimits.mentions

/** What may stand between double braces in the text. It is a mention if a user has that id, otherwise text. */
export function bracedIds({ commentText = '', commentHtml = '' }: CommentContent, path: string): string[] {
  const inHtml = Array.from(mentionCandidates(commentHtml), unescapeHtml)
  const found = unique([...mentionCandidates(commentText), ...inHtml])
  // Ids with braces are rare: otherwise each place has one candidate.
  const simple = found.filter((id) => !/[{}]/.test(id))
  if (simple.length > commentLimits.mentions || found.length > maxCandidates) {
    throw invalid(`${path}commentText must mention at most ${commentLimits.mentions} users.`)
  }
  return found
}

/** The users whom the comment names as tagged contacts or mentions, of those who exist. */
export function mentionedIn(content: CommentContent, existing: ReadonlySet<string>): string[] {
  const { commentText = '', commentHtml = '', mentioned } = content
  const inText = mentionsIn(commentText, (id) => existing.has(id))
  const inHtml = mentionsIn(commentHtml, (id) => existing.has(unescapeHtml(id)))
  return unique([...mentioned, ...inText, ...Array.from(inHtml, unescapeHtml)])
}

/** Replaces the ids of mentioned users between double braces. */
export const replaceBraced = (
  { commentText, commentHtml, mentioned }: CommentContent,
  replaced: (id: string) => string,
): Pick<SentContent, 'commentText' | 'commentHtml'> => {
  const users = new Set(mentioned)
  const mention = (id: string) => (users.has(id) ? replaced(id) : undefined)
  const braced = (id: string | undefined) => (id === undefined ? undefined : `{{${id}}}`)
  const escaped = (id: string | undefined) => (id === undefined ? undefined : escapeHtml(id))
  return {
    ...(commentText !== undefined && {
      commentText: replaceMentions(commentText, (id) => braced(mention(id))),
    }),
    ...(commentHtml !== undefined && {
      commentHtml: replaceMentions(commentHtml, (id) => braced(escaped(mention(unescapeHtml(id))))),
    }),
  }
}
