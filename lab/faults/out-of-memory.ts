import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

/** Where Linux has groups of processes with a memory limit (cgroups v1 and v2), and the name of the limit. */
const hierarchies = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
]

/** Only memory that a process needs after it has joined the group counts. */
const limitBytes = 4 * 1024 * 1024
const killedWithinMs = 20_000

/** Creates a group. Returns why that is not possible, or its folder. */
function createGroup(): { folder: string } | { missing: string } {
  const { root, limit } = hierarchies.find((one) => existsSync(join(one.root, 'cgroup.procs'))) ?? {}
  if (root === undefined || limit === undefined) return { missing: 'this machine has no memory cgroups' }
  const folder = join(root, `plenum-lab-${process.pid}`)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, limit), String(limitBytes))
    return { folder }
  } catch (error) {
    return { missing: `no memory cgroup can be created: ${(error as Error).message}` }
  }
}

export const outOfMemory: Fault = {
  id: 'F15',
  title: 'the kernel kills a server that is out of memory',
  links: severalServers,
  trials: 6,
  seconds: 15,
  missing() {
    const group = createGroup()
    if ('missing' in group) return group.missing
    rmdirSync(group.folder)
    return undefined
  },
  async run(scene) {
    const server = scene.random.of(scene.cluster.servers)
    const group = createGroup()
    if ('missing' in group) throw new Error(group.missing)
    const result = await underLoad(scene, {
      async begin() {
        writeFileSync(join(group.folder, 'cgroup.procs'), String(server.pid))
        await Promise.race([server.ended(), pause(killedWithinMs, undefined, { ref: false })])
        if (server.isRunning) throw new Error('The kernel has not killed the server.')
      },
      end: () => server.start(),
    })
    rmdirSync(group.folder)
    return result
  },
  control: {
    name: 'servers that acknowledge before they commit',
    cluster: { program: 'earlyAnswers' },
  },
}
