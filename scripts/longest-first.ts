import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The ends of the paths of slow test files. They start first, so that no worker is left alone with one of them at the end. */
const slowest = [
  'faults/attacks.test.ts',
  'crdt/large.test.ts',
  'folders/large.test.ts',
  'notifications/large.test.ts',
  'deletions/large.test.ts',
  'crdt/storage.test.ts',
  'server/processes.test.ts',
  'access/cut-off.test.ts',
  'faults/durability.test.ts',
  'faults/realtime-durability.test.ts',
  'faults/killed-deletions.test.ts',
  'access/access.test.ts',
  'src/crdt/crdt.test.ts',
  'validate-update.fuzz.test.ts',
  'server/log.test.ts',
  'clients/y-sweet.test.ts',
  'editors/races.test.ts',
  'editors/editor-log-large.test.ts',
  'access/creation-by-opening.test.ts',
  'documents/presence.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowest.findIndex((end) => moduleId.endsWith(`/${end}`))
      return index < 0 ? slowest.length : index
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
