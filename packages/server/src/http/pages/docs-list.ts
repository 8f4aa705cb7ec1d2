import { type Operation, operations } from '@plenum/protocol'
import { families } from '../openapi/families.ts'
import { pathsOf } from '../openapi/openapi.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Text of the operation table as HTML. Text in backticks becomes code. */
const html = (text: string) =>
  text.replace(/[&<>]/g, (character) => escapes[character] ?? '').replace(/`([^`]+)`/g, '<code>$1</code>')

function item(operation: Operation): string {
  const [newest] = pathsOf(operation)
  return `<li><b>${html(operation.title)}</b> <code>POST ${newest?.url}</code><br>${html(operation.summary)}</li>`
}

/** A list of all operations as HTML. Browsers show it until the reference has loaded, and without JavaScript always. */
export function listOperations(): string {
  const all = Object.entries(operations as Record<keyof typeof families, Record<string, Operation>>)
  const sections = all.map(([family, verbs]) => {
    const { title, description } = families[family as keyof typeof families]
    const items = Object.values(verbs).map(item)
    return `<h2>${html(title)}</h2>\n<p>${html(description)}</p>\n<ul>\n${items.join('\n')}\n</ul>`
  })
  return sections.join('\n')
}
