import { type Operation, operations } from '@plenum/protocol'

/** The client's table: only what it needs to send a request, so that no schema is shipped to browsers. */
export function deriveClientRoutes(): string {
  const families = Object.entries(operations as Record<string, Record<string, Operation>>).map(
    ([family, verbs]) => {
      const lines = Object.entries(verbs).map(
        ([verb, { path, access, effect, versions }]) =>
          `    ${verb}: ['${path}', '${access}', '${effect}', [${versions.map((one) => `'${one}'`).join(', ')}]],`,
      )
      return `  ${family}: {\n${lines.join('\n')}\n  },`
    },
  )
  return `// Derived from the table of operations by "npm run derive". Do not edit.

/** Path, who may call, whether it writes, and the versions of the path. */
export type Route = readonly [path: string, access: string, effect: 'read' | 'write', versions: readonly ('v1' | 'v2')[]]

export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
${families.join('\n')}
}
`
}
