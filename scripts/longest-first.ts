import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Slow test files, the slowest first. They start first, so that no worker is left alone with one of them at the end. */
const slowest = [
  'attacks.test.ts',
  'durability.test.ts',
  'crdt-large.test.ts',
  'large-deletions.test.ts',
  'access.test.ts',
  'realtime-durability.test.ts',
  'folders-large.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowest.indexOf(moduleId.slice(moduleId.lastIndexOf('/') + 1))
      return index < 0 ? slowest.length : index
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
