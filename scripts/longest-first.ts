import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The ends of the paths of slow test files. They start first, so that no worker is left alone with one of them at the end. */
const slowest = [
  'faults/killed-deliveries.test.ts',
  'faults/lab.test.ts',
  'faults/killed-inbox.test.ts',
  'table/shapes.test.ts',
  'visibility/matrix.test.ts',
  'commands/rotate-secret.test.ts',
  'table/versions.test.ts',
  'faults/killed-server.test.ts',
  'peers/access.test.ts',
  'crdt/large.test.ts',
  'folders/large.test.ts',
  'deletions/large.test.ts',
  'notifications/large.test.ts',
  'access/access.test.ts',
  'server/processes.test.ts',
  'access/cut-off.test.ts',
  'organizations/large-lists.test.ts',
  'src/crdt/crdt.test.ts',
  'crdt/storage.test.ts',
  'faults/realtime-durability.test.ts',
  'faults/realtime-faults.test.ts',
  'faults/durability.test.ts',
  'documents/presence.test.ts',
  'limits/fuzz.test.ts',
  'editors/editor-log-large.test.ts',
  'users/get.test.ts',
  'clients/y-sweet.test.ts',
  'limits/slow-readers.test.ts',
  'validate-update.fuzz.test.ts',
  'crdt/concurrency.test.ts',
  'limits/limits.test.ts',
  'table/openapi.test.ts',
  'clients/client-live.test.ts',
  'live-state/limits.test.ts',
  'table/isolation.test.ts',
  'editors/live-versions.test.ts',
  'server/log.test.ts',
  'faults/killed-deletions.test.ts',
  'crdt/versions.test.ts',
  'client/test/react.test.ts',
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
