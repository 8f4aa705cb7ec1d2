import { setTimeout as pause } from 'node:timers/promises'
import type { Fault, Result, Scene } from '../fault.ts'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { underLoad } from '../under-load.ts'

/** As in `programs/changed-server.ts`. */
const points = 6
/** Between the new number of the snapshot and the snapshot. */
const worstPoint = 2
const compactedWithinMs = 30_000
/** The server is killed at its first compaction: waiting for more writes before it would be in vain. */
const writes = 30

async function killAt(scene: Scene, point: number): Promise<Result> {
  const [server] = scene.cluster.servers as [ServerProcess]
  await server.kill()
  await server.start({ LAB_KILL_AT: String(point) })
  return underLoad(
    { ...scene, writes },
    {
      async begin() {
        await Promise.race([server.ended(), pause(compactedWithinMs, undefined, { ref: false })])
        if (server.isRunning) throw new Error('The server has not compacted an editor.')
      },
      end: () => server.start(),
    },
  )
}

export const killedCompaction: Fault = {
  id: 'F8',
  title: `a server is killed at one of ${points} points while it compacts an editor`,
  links: ['postgres'],
  trials: 36,
  seconds: 4,
  cluster: { program: 'changedServer', servers: 1 },
  // Compaction is due after 64 KiB.
  job: { paddingLength: 4_000 },
  run: (scene) => killAt(scene, 1 + scene.random(points)),
  control: {
    name: 'a server that commits each statement by itself',
    cluster: { env: { LAB_CHANGE: 'unatomic' } },
    run: (scene) => killAt(scene, worstPoint),
  },
}
