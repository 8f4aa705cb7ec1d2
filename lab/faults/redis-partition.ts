import { type Fault, believesToBeAlone } from '../fault.ts'
import type { Passing } from '../../packages/server/test/support/faults/proxy.ts'
import { underLoad } from '../under-load.ts'

const directions: readonly Passing[] = ['toServer', 'toClient', 'none']

export const redisPartition: Fault = {
  id: 'F5',
  title: 'a server cannot reach Redis, or does not hear it, or both',
  links: ['redis'],
  trials: 15,
  seconds: 12,
  cluster: { proxied: 'redis' },
  run(scene) {
    const { cluster, random } = scene
    const proxy = random.of(cluster.proxies)
    return underLoad(scene, {
      begin: async () => proxy.pass(random.of(directions)),
      end: async () => proxy.restore(),
      isTolerated: true,
      revokes: 'while it lasts',
    })
  },
  control: believesToBeAlone,
}
