import { type Fault, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

export const killedServer: Fault = {
  id: 'F2',
  title: 'one of two servers is killed',
  links: severalServers,
  trials: 60,
  run(scene) {
    const server = scene.random.of(scene.cluster.servers)
    return underLoad(scene, { strike: () => server.kill(), heal: () => server.start() })
  },
  control: {
    name: 'servers that acknowledge before they commit',
    cluster: { program: 'early-answers' },
  },
}
