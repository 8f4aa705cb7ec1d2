import { type Fault, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

export const killedPostgres: Fault = {
  id: 'F3',
  title: 'PostgreSQL is killed, all its processes',
  links: severalServers,
  trials: 30,
  seconds: 10,
  async run(scene) {
    const postgres = await scene.cluster.services.postgres()
    return underLoad(scene, { begin: () => postgres.kill(), end: () => postgres.restart() })
  },
  control: {
    name: 'servers that do not wait for the disk (`DURABILITY=relaxed`)',
    cluster: { env: { DURABILITY: 'relaxed' } },
  },
}
