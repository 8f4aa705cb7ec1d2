import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildOpenApi } from '../../packages/server/src/http/openapi/openapi.ts'
import { deriveClientRoutes } from './client-routes.ts'
import { clientTypesFolder, deriveClientTypes } from './client-types.ts'
import { printJson } from './json.ts'
import { deriveMessageTypes, messageTypesFolder } from './message-types.ts'
import { deriveReference, referenceFolder } from './reference.ts'

/** Returns the text of every file that is derived from the tables of operations and messages, by path. */
export const derivedFiles = (): Record<string, string> => ({
  'packages/client/src/routes.ts': deriveClientRoutes(),
  ...deriveClientTypes(),
  ...deriveMessageTypes(),
  'openapi.json': `${printJson(buildOpenApi())}\n`,
  ...deriveReference(),
})

export interface Difference {
  /** Files that are missing or have another text. */
  stale: string[]
  /** Files that are no longer derived, because their family does not exist any more. */
  leftOver: string[]
}

export function compare(root: string, files: Record<string, string>): Difference {
  return {
    stale: Object.entries(files)
      .filter(
        ([file, text]) => !existsSync(join(root, file)) || readFileSync(join(root, file), 'utf8') !== text,
      )
      .map(([file]) => file),
    leftOver: [referenceFolder, clientTypesFolder, messageTypesFolder]
      .flatMap((folder) => {
        const path = join(root, folder)
        return (existsSync(path) ? readdirSync(path) : []).map((file) => `${folder}/${file}`)
      })
      .filter((file) => !(file in files)),
  }
}

export function repair(root: string, files: Record<string, string>, { stale, leftOver }: Difference): void {
  for (const file of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), files[file] ?? '')
  }
  for (const file of leftOver) rmSync(join(root, file))
}
