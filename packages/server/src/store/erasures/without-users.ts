import { replaceMentions } from '../../platform/mentions.ts'
import { literal } from '../../platform/patterns.ts'
import type { CommentContent } from '../comments/annotation.ts'
import { namesUsers } from './named-users.ts'

/** Stands in a text where an erased user was mentioned. */
const erasedMention = '@deleted user'

type Ids = ReadonlySet<string>

/** By what users are found in JSON. */
export interface ErasedIds {
  userIds: Ids
  /** Their email addresses, in lower case. */
  addresses: Ids
}

/** The text without mentions of these users, as `{{userId}}`. */
export const withoutMentions = (text: string, userIds: Ids): string =>
  replaceMentions(text, (id) => (userIds.has(id) ? erasedMention : undefined))

/** Replaces texts that stood for tagged users. Only `@…` is replaced: another text may be any word. */
function withoutTags(text: string, tags: readonly unknown[]): string {
  const shown = tags.filter((tag) => typeof tag === 'string' && tag.length > 1 && tag.startsWith('@'))
  if (shown.length === 0) return text
  // In one pass, so that no replacement is replaced again. The longest first: one may be the beginning of another.
  const patterns = [...new Set(shown as string[])].sort((a, b) => b.length - a.length).map(literal)
  return text.replaceAll(new RegExp(patterns.join('|'), 'g'), erasedMention)
}

/** The content of a comment without mentions of these users. Undefined: it mentions none of them. */
export function withoutMentionsIn<T extends Partial<CommentContent>>(
  content: T,
  userIds: Ids,
): T | undefined {
  const { commentText, commentHtml, mentioned = [], taggedUserContacts: tags = [] } = content
  const isErased = (tag: (typeof tags)[number]) =>
    userIds.has(tag.userId ?? '') || userIds.has(tag.contact?.userId ?? '')
  const erased = tags.filter(isErased).map((tag) => tag.text)
  if (erased.length === 0 && !mentioned.some((id) => userIds.has(id))) return undefined
  const cleaned = (text: string) => withoutTags(withoutMentions(text, userIds), erased)
  return {
    ...content,
    ...(typeof commentText === 'string' && { commentText: cleaned(commentText) }),
    ...(typeof commentHtml === 'string' && { commentHtml: cleaned(commentHtml) }),
    mentioned: mentioned.filter((id) => !userIds.has(id)),
    ...(content.taggedUserContacts && { taggedUserContacts: tags.filter((tag) => !isErased(tag)) }),
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The author of a comment, if the value is one as activities show it. A backend may store anything in an activity. */
const authorOf = (value: object): unknown =>
  'commentId' in value && 'from' in value && isObject(value.from) && 'userId' in value.from
    ? value.from.userId
    : undefined

/** Whether the value has the mentions of a comment. */
const hasMentions = (value: object): value is CommentContent =>
  'mentioned' in value &&
  Array.isArray(value.mentioned) &&
  (!('taggedUserContacts' in value) ||
    (Array.isArray(value.taggedUserContacts) && value.taggedUserContacts.every(isObject)))

/**
 * A copy of a JSON value without these users: objects with the `userId` of one of them, their ids in fields that name users,
 * mentions in texts, and the content of their comments. Undefined: the value itself was one of the users.
 */
export function withoutUsers(value: unknown, erased: ErasedIds, field = ''): unknown {
  const { userIds, addresses } = erased
  if (typeof value === 'string') {
    const isId = userIds.has(value) && namesUsers.test(field)
    // An application may use addresses as ids, and those of other users stay.
    const isAddress = addresses.has(value.toLowerCase()) && !hasIds.test(field)
    return isId || isAddress ? undefined : withoutMentions(value, userIds)
  }
  if (Array.isArray(value)) {
    return value.map((item) => withoutUsers(item, erased, field)).filter((item) => item !== undefined)
  }
  if (typeof value !== 'object' || value === null) return value
  if (isUser(value, erased)) return undefined
  if (userIds.has(authorOf(value) as string))
    return { commentId: (value as { commentId: unknown }).commentId }
  const cleaned = hasMentions(value) ? (withoutMentionsIn(value, userIds) ?? value) : value
  return Object.fromEntries(
    Object.entries(cleaned).flatMap(([key, inside]) => {
      const left = withoutUsers(inside, erased, key)
      return left === undefined ? [] : [[key, left]]
    }),
  )
}

const hasIds = /ids?$|users$|mentioned/i

/** Users are recognized by their id or, if an application stored none, by their address. */
const isUser = (value: object, { userIds, addresses }: ErasedIds): boolean =>
  'userId' in value
    ? userIds.has(value.userId as string)
    : 'email' in value && typeof value.email === 'string' && addresses.has(value.email.toLowerCase())

/** As `withoutUsers`, for JSON text. Undefined: the text names none of the users. */
export function redacted(text: string, erased: ErasedIds): string | undefined {
  const after = JSON.stringify(withoutUsers(JSON.parse(text), erased) ?? {})
  return after === text ? undefined : after
}
