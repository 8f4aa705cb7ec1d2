import * as protocol from '@plenum/protocol'
import { families } from '../../packages/server/src/http/openapi/families.ts'
import { notesOf } from '../../packages/server/src/http/openapi/notes.ts'
import { pathsOf } from '../../packages/server/src/http/openapi/openapi.ts'
import type { Field } from './field-notes.ts'
import { comment } from './js-doc.ts'
import { declarationText, namedSchemas, schemaName, typeText } from './type-text.ts'

export const clientTypesFolder = 'packages/client/src/operations'

const header = '// Derived from the operation table by "npm run derive". Do not edit.\n'

/**
 * Returns the types of the client's methods, inputs and answers as plain interfaces: one file per family, by path. They are
 * derived because types that TypeScript infers from schemas have no descriptions.
 */
export function deriveClientTypes(): Record<string, string> {
  const all = Object.entries(protocol.operations as Record<string, Record<string, protocol.Operation>>)
  const homes = new Map<string, string>()
  return Object.fromEntries([
    ...all.map(([family, verbs]) => [
      `${clientTypesFolder}/${kebab(family)}.ts`,
      familyFile(family, verbs, homes),
    ]),
    [`${clientTypesFolder}/index.ts`, indexFile(all.map(([family]) => family))],
  ])
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** Declares a named schema in the file of the first family that uses it. `homes` maps its name to this file. */
function familyFile(
  family: string,
  verbs: Record<string, protocol.Operation>,
  homes: Map<string, string>,
): string {
  const used = new Set<string>()
  const declarations: string[] = []
  const methods = Object.entries(verbs).map(([verb, operation]) => {
    const name = capital(family) + capital(verb)
    const input = operation.input as Field
    declarations.push(inputText(`${name}Input`, input, used))
    const optional = input.required?.length ? '' : '?'
    const signature = (input: string, answer: string) =>
      `${comment(methodNotes(operation), '  ')}  ${verb}(input${optional}: ${input}, options?: CallOptions): Promise<Result<${answer}>>\n`
    const { groupedBy, output } = operation
    const all = signature(`${name}Input`, answerText(`${name}Output`, output, declarations, used))
    if (groupedBy === undefined) return all
    const [list, map] = (output as Field).anyOf ?? []
    if (!list || !map) throw new Error(`${name} must have two outputs.`)
    const forInput = (type: string, answer: Field) =>
      signature(`${name}Input & { ${type} }`, typeText(name, answer, used))
    // The last one is for inputs of which the compiler does not know whether they group.
    return forInput(`${groupedBy}?: false`, list) + forInput(`${groupedBy}: true`, map) + all
  })
  const { description } = families[family as protocol.Family]
  const api = `${comment([description], '')}export interface ${capital(family)}Operations {\n${methods.join('')}}\n`
  const shared: string[] = []
  const imports = new Map([['../platform/call.ts', ['CallOptions', 'Result']]])
  // `declarationText` adds the named schemas that a schema uses to the set, so the loop reaches them too.
  for (const name of used) {
    const home = homes.get(name)
    if (home === undefined) {
      homes.set(name, `./${kebab(family)}.ts`)
      shared.push(declarationText(name, namedSchemas.get(name) as Field, used))
    } else imports.set(home, [...(imports.get(home) ?? []), name])
  }
  const importLines = [...imports].map(
    ([from, names]) => `import type { ${names.join(', ')} } from '${from}'\n`,
  )
  return `${header}${importLines.join('')}\n${[...shared, ...declarations, api].join('\n')}`
}

/** Declares the input under the name of its operation, also where several operations share a schema. */
const inputText = (name: string, schema: Field, used: Set<string>): string =>
  schemaName(schema) === undefined
    ? declarationText(name, schema, used)
    : `export type ${name} = ${typeText(name, schema, used)}\n`

/** Declares an answer with fields of its own under the name of its operation. Returns other types as they are. */
function answerText(name: string, schema: Field, declarations: string[], used: Set<string>): string {
  if (!schema.properties || schemaName(schema)) return typeText(name, schema, used)
  declarations.push(declarationText(name, schema, used))
  return name
}

function methodNotes(operation: protocol.Operation): string[] {
  const { summary, description, output } = operation
  const [{ url } = { url: '' }] = pathsOf(operation)
  const answer = (output as Field).description
  const notes = [summary, description, ...notesOf(operation)].filter((note) => note !== undefined)
  return [notes.join(' '), ...(answer ? [`@returns ${answer}`] : []), `\`POST ${url}\``]
}

function indexFile(names: string[]): string {
  const type = (family: string) => `${capital(family)}Operations`
  const imports = names.map((family) => `import type { ${type(family)} } from './${kebab(family)}.ts'\n`)
  const exports = names.map(kebab).map((file) => `export type * from './${file}.ts'\n`)
  const fields = names.map((family) => {
    const { description } = families[family as protocol.Family]
    return `${comment([description], '  ')}  readonly ${family}: ${type(family)}\n`
  })
  const api = `${comment(['Every operation of the interface, by family.'], '')}export interface Operations {\n${fields.join('')}}\n`
  return `${header}${imports.join('')}\n${exports.join('')}\n${api}`
}
