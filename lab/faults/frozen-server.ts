import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, knowsNoOther, type Scene, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

/** Servers do not treat all times alike: jobs are taken over after 25 s, and after a minute clients must connect again. */
function frozenMs({ random, isShort }: Scene): number {
  const kind = isShort ? 9 : random(10)
  if (kind === 0) return 61_000 + random(9_000)
  return kind < 3 ? 31_000 + random(9_000) : 2_000 + random(6_000)
}

export const frozenServer: Fault = {
  id: 'F7',
  title: 'a server is frozen (SIGSTOP) for 2 to 8 s, sometimes for 31 to 40 s or for 61 to 70 s, and goes on',
  links: severalServers,
  trials: 20,
  seconds: 20,
  run(scene) {
    const { cluster, random } = scene
    const server = random.of(cluster.servers)
    return underLoad(scene, {
      stuck: server,
      begin: async () => server.freeze(),
      async end() {
        await pause(frozenMs(scene))
        server.thaw()
      },
      revokes: 'while it lasts',
      // What the server is doing for a user when it freezes is random.
      revokedUsers: 8,
    })
  },
  control: knowsNoOther,
}
