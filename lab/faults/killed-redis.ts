import { type Fault, believesToBeAlone } from '../fault.ts'
import { underLoad } from '../under-load.ts'

export const killedRedis: Fault = {
  id: 'F4',
  title: 'Redis is killed',
  links: ['redis'],
  trials: 30,
  seconds: 8,
  async run(scene) {
    const redis = await scene.cluster.services.redis()
    return underLoad(scene, {
      begin: () => redis.kill(),
      end: () => redis.restart(),
      isTolerated: true,
      revokes: 'while it lasts',
    })
  },
  control: believesToBeAlone,
}
