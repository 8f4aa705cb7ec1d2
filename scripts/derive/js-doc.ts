const lineLength = 110

/** Returns the paragraphs as a JSDoc comment, on one line if they fit. Returns '' if there is no text. */
export function comment(paragraphs: string[], indent: string): string {
  const texts = paragraphs
    .filter((text) => text !== '')
    // A link is relative to the reference page, so only its text is kept.
    .map((text) => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('*/', '*\\/'))
  const [only = ''] = texts
  if (texts.length === 0) return ''
  if (texts.length === 1 && indent.length + only.length + 7 <= lineLength) return `${indent}/** ${only} */\n`
  const lines = texts.flatMap((text, index) => [
    ...(index > 0 ? [''] : []),
    ...wrap(text, lineLength - indent.length - 3),
  ])
  return `${indent}/**\n${lines.map((line) => `${indent} *${line && ` ${line}`}\n`).join('')}${indent} */\n`
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
