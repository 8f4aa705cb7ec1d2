import { type Operation, operations } from '@plenum/protocol'
import { families } from '../openapi/families.ts'
import { pathsOf } from '../openapi/notes.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Text of the table as HTML; what stands in backticks is code. */
const html = (text: string) =>
  text.replace(/[&<>]/g, (character) => escapes[character] ?? '').replace(/`([^`]+)`/g, '<code>$1</code>')

function item(operation: Operation): string {
  const [newest] = pathsOf(operation)
  return `<li><b>${html(operation.title)}</b> <code>POST ${newest?.url}</code><br>${html(operation.summary)}</li>`
}

/** Every operation in a line of HTML, to be read while the reference is loading and without JavaScript. */
export function listOperations(): string {
  const all = Object.entries(operations as Record<keyof typeof families, Record<string, Operation>>)
  const sections = all.map(([family, verbs]) => {
    const { title, description } = families[family as keyof typeof families]
    const items = Object.values(verbs).map(item)
    return `<h2>${html(title)}</h2>\n<p>${html(description)}</p>\n<ul>\n${items.join('\n')}\n</ul>`
  })
  return sections.join('\n')
}
