import { isDeepStrictEqual } from 'node:util'
import type { Audience, StoredAudience } from '../comments/audience.ts'
import type { AnnotationData, CommentContent } from '../comments/annotation.ts'
import { type ErasedIds, withoutMentionsIn, withoutUsers } from './without-users.ts'

type Context = NonNullable<CommentContent['context']>
type Attachment = NonNullable<CommentContent['attachments']>[number]

/** What an access context has in place of an erased user. Without the field, more users would see the thread. */
const erasedValue = 'deleted user'

/**
 * The content of a comment of another user, without the erased users. Undefined: it names none of them. Texts stay, so a name
 * that somebody typed stays too.
 */
export function withoutUsersInComment(
  content: CommentContent,
  erased: ErasedIds,
): CommentContent | undefined {
  const cleaned = withoutMentionsIn(content, erased.userIds) ?? content
  const { context, attachments } = cleaned
  const left = {
    ...cleaned,
    ...(context && { context: withoutUsersInContext(context, erased) }),
    ...(attachments && { attachments: attachments.map((one) => withoutUsersInAttachment(one, erased)) }),
  }
  return isDeepStrictEqual(left, content) ? undefined : left
}

/** What an annotation says, without the erased users. */
export function withoutUsersInAnnotation(data: AnnotationData, erased: ErasedIds): AnnotationData {
  const { context, ...rest } = data
  return {
    ...(withoutUsers(rest, erased) as Omit<AnnotationData, 'context'>),
    ...(context && { context: withoutUsersInContext(context, erased) }),
  }
}

/** What is left of an annotation whose author is erased: where it is, who sees it, its status. */
export function withoutTextsOfAuthor(data: AnnotationData): AnnotationData {
  const { context, pageInfo: _, suggestion, ...rest } = data
  const { summary: _summary, ...ofSuggestion } = suggestion ?? {}
  return {
    ...rest,
    ...(context?.access && { context: { access: context.access } }),
    ...(suggestion && { suggestion: ofSuggestion }),
  }
}

function withoutUsersInContext(context: Context, erased: ErasedIds): Context {
  const { access, ...rest } = context
  const left = (withoutUsers(rest, erased) ?? {}) as Context
  if (!access) return left
  const kept = Object.entries(access).map(([key, value]) => [
    key,
    namesErased(key, value, erased) ? erasedValue : value,
  ])
  return { ...left, access: Object.fromEntries(kept) }
}

/** An access field that names an erased user. */
const namesErased = (key: string, value: unknown, erased: ErasedIds) =>
  withoutUsers(value, erased, key) === undefined

/** An audience without the erased users. Undefined: it names none of them. */
export function withoutUsersInAudience<A extends Audience>(audience: A, erased: ErasedIds): A | undefined {
  const { authorUserId, ...others } = audience
  const { users, access } = others
  const left = {
    ...others,
    ...(authorUserId !== undefined && !erased.userIds.has(authorUserId) && { authorUserId }),
    ...(users && { users: users.filter((userId) => !erased.userIds.has(userId)) }),
    ...(access && { access: access.map((field) => withoutUserInField(field, erased)) }),
  }
  const { former } = audience as StoredAudience
  const leftOfFormer = former?.audience && withoutUsersInAudience(former.audience, erased)
  const cleaned = leftOfFormer ? { ...left, former: { ...former, audience: leftOfFormer } } : left
  return isDeepStrictEqual(cleaned, audience) ? undefined : (cleaned as A)
}

/** An access field is `key:value`, and the key has no `:`. */
function withoutUserInField(field: string, erased: ErasedIds): string {
  const end = field.indexOf(':')
  const [key, value] = [field.slice(0, end), field.slice(end + 1)]
  return namesErased(key, value, erased) ? `${key}:${erasedValue}` : field
}

/** As `withoutUsersInAudience`, for JSON text. */
export function redactedAudience(json: string | null, erased: ErasedIds): string | undefined {
  const left = json === null ? undefined : withoutUsersInAudience(JSON.parse(json) as Audience, erased)
  return left && JSON.stringify(left)
}

/** The file stays, because another user attached it. */
function withoutUsersInAttachment(attachment: Attachment, erased: ErasedIds): Attachment {
  const { attachmentId, name, url, mimeType, size, type } = attachment
  const file = { attachmentId, name, url, mimeType, size, type }
  return (withoutUsers(attachment, erased) ?? file) as Attachment
}
