/** A pattern that matches exactly this text. */
export const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Finds texts that have one of the names as a whole word: `ada` is in "for ada." and not in "adapter". */
export function asWords(names: Iterable<string>): RegExp {
  // Without names, nothing is found.
  const anyName = Array.from(names, literal).join('|') || '(?!)'
  return new RegExp(`(?<![\\p{L}\\p{N}_.+-])(?:${anyName})(?![\\p{L}\\p{N}_+-])`, 'iu')
}
