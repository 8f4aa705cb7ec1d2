import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, severalServers } from '../fault.ts'
import type { Passing } from '../../packages/server/test/support/faults/proxy.ts'
import { underLoad } from '../under-load.ts'

const directions: readonly Passing[] = ['toServer', 'toClient', 'none']

export const databasePartition: Fault = {
  id: 'F6',
  title: 'a server cannot reach PostgreSQL, or does not hear it, or both, for up to 8 s',
  links: severalServers,
  trials: 15,
  seconds: 15,
  cluster: { proxied: 'database' },
  run(scene) {
    const { cluster, random } = scene
    const index = random(cluster.servers.length)
    const proxy = cluster.proxies[index]
    return underLoad(scene, {
      stuck: cluster.servers[index],
      begin: async () => proxy?.pass(random.of(directions)),
      async end() {
        await pause(random(8_000))
        proxy?.restore()
      },
      revokes: 'while it lasts',
    })
  },
  control: {
    name: 'servers that acknowledge before they commit',
    cluster: { program: 'earlyAnswers' },
  },
}
