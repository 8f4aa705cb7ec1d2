import { type Operation, operations } from '@plenum/protocol'

/** Returns the text of the client's routes.ts. It has only what a request needs, so browsers load no schema. */
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
  return `// Derived from the operation table by "npm run derive". Do not edit.

/** Path, needed credentials, whether the operation writes, and the versions that have the path. */
export type Route = readonly [path: string, access: string, effect: 'read' | 'write', versions: readonly ('v1' | 'v2')[]]

export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
${families.join('\n')}
}
`
}
