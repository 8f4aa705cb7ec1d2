import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long. The longest begins first, so that at the end no worker is left alone with one of them. */
const long = [
  'attacks.test.ts',
  'durability.test.ts',
  'crdt-large.test.ts',
  'large-deletions.test.ts',
  'realtime-access.test.ts',
  'realtime-durability.test.ts',
  'folders-large.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = long.indexOf(moduleId.slice(moduleId.lastIndexOf('/') + 1))
      return place < 0 ? long.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
