import { escapeHtml } from './safe-html.ts'

/** Text that is HTML already. Only the function `html` makes it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Html[] | undefined

/** Builds HTML. Every value is escaped, unless it is HTML that this function built. Undefined is left out. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, index) => unindented(part) + toText(values[index])).join(''))
}

/** The source is indented for its readers. In a mail that would be kilobytes of spaces. */
const unindented = (part: string) => part.replaceAll(/\n\s+/g, '\n')

function toText(value: Value): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return escapeHtml(String(value))
}

/** A text with its line breaks. */
export function withLineBreaks(text: string): Html {
  return new Html(
    text
      .split('\n')
      .map((line) => escapeHtml(line))
      .join('<br>'),
  )
}
