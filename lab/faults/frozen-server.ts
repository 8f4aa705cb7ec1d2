import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, knowsNoOther, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

export const frozenServer: Fault = {
  id: 'F7',
  title: 'a server is frozen (SIGSTOP) for 2 to 8 s, every fifth time for 31 to 40 s, and goes on',
  links: severalServers,
  trials: 20,
  seconds: 20,
  run(scene) {
    const { cluster, random } = scene
    const server = random.of(cluster.servers)
    return underLoad(scene, {
      stuck: server,
      begin: async () => server.signal('SIGSTOP'),
      async end() {
        await pause(random(5) === 0 ? 31_000 + random(9_000) : 2_000 + random(6_000))
        server.signal('SIGCONT')
      },
      revokes: 'while it lasts',
    })
  },
  control: knowsNoOther,
}
