import { type Fault, type Scene, severalServers } from '../fault.ts'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { underLoad } from '../under-load.ts'

const kill = (scene: Scene, servers: readonly ServerProcess[]) =>
  underLoad(scene, {
    begin: () => Promise.all(servers.map((server) => server.kill())),
    end: () => Promise.all(servers.map((server) => server.start())),
  })

export const killedServer: Fault = {
  id: 'F2',
  title: 'one of two servers is killed',
  links: severalServers,
  trials: 50,
  seconds: 8,
  run: (scene) => kill(scene, [scene.random.of(scene.cluster.servers)]),
  control: {
    name: 'servers that acknowledge before they commit, both killed',
    cluster: { program: 'earlyAnswers' },
    // Both, so that nearly every trial loses something.
    run: (scene) => kill(scene, scene.cluster.servers),
  },
}
