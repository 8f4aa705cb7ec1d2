/** Stands in a text where an erased user was mentioned. */
const erasedMention = '@deleted user'

/** Fields whose text is the id of a user, or that list such ids. Other texts may equal an id by chance. */
const namesUsers = /user|mentioned/i

/** The text without mentions of these users, as `{{userId}}`. */
export const withoutMentions = (text: string, userIds: ReadonlySet<string>): string =>
  text.includes('{{')
    ? text.replaceAll(/\{\{([^{}\n]{1,256})\}\}/g, (mention, id: string) =>
        userIds.has(id) ? erasedMention : mention,
      )
    : text

/** Replaces the text that stood for a tagged user. Only `@…` is replaced: another text may be any word. */
export const withoutTag = (text: string, tag: string | undefined): string =>
  tag !== undefined && tag.length > 1 && tag.startsWith('@') ? text.replaceAll(tag, erasedMention) : text

/**
 * A copy of a JSON value without these users: objects with the `userId` of one of them, their ids in fields that name users,
 * and mentions in texts. Undefined: the value itself was one of the users.
 */
export function withoutUsers(value: unknown, userIds: ReadonlySet<string>, field = ''): unknown {
  if (typeof value === 'string') {
    return userIds.has(value) && namesUsers.test(field) ? undefined : withoutMentions(value, userIds)
  }
  if (Array.isArray(value)) {
    return value.map((item) => withoutUsers(item, userIds, field)).filter((item) => item !== undefined)
  }
  if (typeof value !== 'object' || value === null) return value
  if ('userId' in value && userIds.has(value.userId as string)) return undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inside]) => {
      const left = withoutUsers(inside, userIds, key)
      return left === undefined ? [] : [[key, left]]
    }),
  )
}

/** As `withoutUsers`, for JSON text. Undefined: the text names none of the users. */
export function redacted(text: string, userIds: ReadonlySet<string>): string | undefined {
  const after = JSON.stringify(withoutUsers(JSON.parse(text), userIds) ?? {})
  return after === text ? undefined : after
}
