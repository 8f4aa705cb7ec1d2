import { setTimeout as pause } from 'node:timers/promises'
import { closeCodes } from '@plenum/protocol/realtime'
import { type Fault, type Scene, severalServers } from '../fault.ts'
import { underLoad } from '../under-load.ts'

/** The longest time that a stop may take. */
const stopMs = 10_000

async function stop(scene: Scene, signal: NodeJS.Signals) {
  const { cluster, random } = scene
  const server = random.of(cluster.servers)
  const problems: string[] = []
  return underLoad(scene, {
    async begin() {
      const beganAt = performance.now()
      server.signal(signal)
      // A load balancer looks whether a server is ready.
      while (await server.isReady()) await pause(5)
      cluster.drained.add(server)
      const code = await server.ended()
      if (performance.now() - beganAt > stopMs) problems.push(`a stop took more than ${stopMs / 1000} s`)
      if (code !== 0) problems.push(`a server ended with ${code ?? signal}`)
    },
    async end() {
      await server.start()
      cluster.drained.delete(server)
    },
    check({ endings, failures }) {
      const known = [String(closeCodes.restarting), 'refused']
      if (Object.keys(endings).some((code) => !known.includes(code)))
        problems.push('clients were not asked to connect again')
      if (failures.length > 0) problems.push('calls failed')
      return problems
    },
  })
}

export const stoppedServer: Fault = {
  id: 'F14',
  title: 'one of two servers is stopped (SIGTERM)',
  links: severalServers,
  trials: 20,
  seconds: 10,
  run: (scene) => stop(scene, 'SIGTERM'),
  control: {
    name: 'SIGKILL instead',
    shows: 'problems',
    run: (scene) => stop(scene, 'SIGKILL'),
  },
}
