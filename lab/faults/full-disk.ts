import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fillUp } from '../../packages/server/test/support/faults/small-disk.ts'
import { Cluster } from '../cluster.ts'
import type { Fault } from '../fault.ts'
import { readText } from '../oracle.ts'
import { underLoad } from '../under-load.ts'

const diskMegabytes = 64
const fullMs = 2_000

export const fullDisk: Fault = {
  id: 'F9',
  title: 'the disk is full for 2 s',
  links: ['sqlite'],
  trials: 10,
  seconds: 8,
  missing: () => (process.getuid?.() === 0 ? undefined : 'only root can mount a small disk'),
  async run(scene) {
    const folder = mkdtempSync(join(tmpdir(), 'plenum-lab-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m`, 'tmpfs', folder])
    const filler = join(folder, 'filler')
    const dataDir = join(folder, 'data')
    const cluster = await Cluster.start(scene.cluster.services, { link: 'sqlite', dataDir })
    try {
      return await underLoad(
        { ...scene, cluster },
        {
          async begin() {
            fillUp(filler)
            await pause(fullMs)
            // Reads continue.
            await readText(cluster, cluster.balancer.url, `${scene.name}-0`)
          },
          end: async () => rmSync(filler),
        },
      )
    } finally {
      await cluster.stop()
      // Lazily: the process may still hold its files for a moment.
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    }
  },
  control: {
    name: 'writers that count a write as acknowledged when it is sent',
    job: { countsSent: true },
  },
}
