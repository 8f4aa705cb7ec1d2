import { cutText } from '../../../platform/cut-text.ts'

/** Cut, so that a mail stays below 100 KB, above which Gmail hides the end of it. */
const maxNameCharacters = 80
const maxTitleCharacters = 120
export const maxSubjectCharacters = 180

/** Control characters, and characters that change the direction of the text after them. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu
/** Only the beginning is cleaned, because a text may have 50 KB. Twice as long as the cut text, as spaces are joined. */
const beginningOf = (text: string, maxCharacters: number) =>
  text.slice(0, maxCharacters * 2).replace(/[\uD800-\uDBFF]$/, '')

/**
 * One line that is safe in a header: without line breaks, control characters and the beginning of an encoded word
 * (RFC 2047), which mail programs would decode.
 */
export const oneLine = (text: string, maxCharacters = maxTitleCharacters): string =>
  cutText(
    beginningOf(text, maxCharacters)
      .replace(unprintable, ' ')
      .replaceAll('=?', '= ?')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    maxCharacters,
  )

export const shownName = (name: string): string => oneLine(name, maxNameCharacters) || 'Someone'

/** Several lines. At most one of two that follow each other is empty. */
export const lines = (text: string, maxCharacters: number): string =>
  cutText(
    beginningOf(text, maxCharacters)
      .replaceAll(/\r\n?/g, '\n')
      .replace(unprintable, (character) => (character === '\n' ? '\n' : ' '))
      .replaceAll(/[^\S\n]+/g, ' ')
      .replaceAll(/ ?\n ?/g, '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
    maxCharacters,
  )

/** Returns the URL if a link may have it: http or https, and not longer than mail clients accept. */
export function webUrl(text: string | undefined): string | undefined {
  if (text === undefined || text.length > 2000 || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** `18 Nov 2026, 01:05 UTC`. The server does not know the time zone of the reader. */
export const shownTime = (timestamp: number): string =>
  Number.isFinite(timestamp) && Math.abs(timestamp) <= 8.64e15 ? `${dateFormat.format(timestamp)} UTC` : ''
