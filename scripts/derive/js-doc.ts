const lineLength = 110

/** Paragraphs as JSDoc, on one line if they fit; empty if there is nothing to say. */
export function comment(paragraphs: string[], indent: string): string {
  const said = paragraphs.filter((text) => text !== '').map((text) => text.replaceAll('*/', '*\\/'))
  const [only = ''] = said
  if (said.length === 0) return ''
  if (said.length === 1 && indent.length + only.length + 7 <= lineLength) return `${indent}/** ${only} */\n`
  const lines = said.flatMap((text, index) => [
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
