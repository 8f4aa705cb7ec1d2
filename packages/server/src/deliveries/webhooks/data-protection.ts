/** Texts that users wrote in comments. */
const commentTexts: ReadonlySet<string> = new Set(['commentText', 'commentHtml'])

/** Fields that have ids. An application may use email addresses as ids of users. */
const hasIds = /ids?$|users$|by$/i

const isEmailAddress = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text)

/**
 * A copy of a payload without the texts of comments, and without the names and email addresses of users (spec 24.5.8). Of a user,
 * and of a tagged contact, only the id is left.
 */
export const withDataProtection = <T extends object>(payload: T): T => protect(payload, '') as T

function protect(value: unknown, field: string): unknown {
  if (typeof value === 'string') return isEmailAddress(value) && !hasIds.test(field) ? undefined : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return value.map((item) => protect(item, field)).filter((item) => item !== undefined)
  if ('userId' in value) return { userId: value.userId }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inside]) => {
      const left = commentTexts.has(name) ? undefined : protect(inside, name)
      return left === undefined ? [] : [[name, left]]
    }),
  )
}
