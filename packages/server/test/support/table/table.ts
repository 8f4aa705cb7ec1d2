import { type Operation, operations, type ApiVersion } from '@plenum/protocol'

export interface Entry {
  /** `family.verb` */
  name: string
  verb: string
  operation: Operation
  version: ApiVersion
  /** Path with the version. */
  path: string
}

/** Every operation under every version of its path, for tests that cover all operations. */
export const table: readonly Entry[] = Object.entries(
  operations as Record<string, Record<string, Operation>>,
).flatMap(([family, verbs]) =>
  Object.entries(verbs).flatMap(([verb, operation]) =>
    operation.versions.map((version) => ({
      name: `${family}.${verb}`,
      verb,
      operation,
      version,
      path: `/${version}${operation.path}`,
    })),
  ),
)
