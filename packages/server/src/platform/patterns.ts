/** A pattern that matches exactly this text. */
export const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * Whether the text has one of the names as a whole word: `ada` is in "for ada." and not in "adapter". The text may be JSON or
 * part of a URL, in which escapes stand for characters.
 */
export function hasWord(text: string, names: Iterable<string>): boolean {
  const lower = text.toLowerCase()
  // Most texts have no name. A pattern of very many long names would be slow.
  const found = [...names].filter((name) => name !== '' && lower.includes(name.toLowerCase()))
  if (found.length === 0) return false
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_+-])(?:${found.map(literal).join('|')})(?![\\p{L}\\p{N}_+-])`,
    'iu',
  )
  return pattern.test(text) || pattern.test(text.replaceAll(/\\u[0-9a-f]{4}|\\.|%[0-9a-f]{2}/gi, ' '))
}
