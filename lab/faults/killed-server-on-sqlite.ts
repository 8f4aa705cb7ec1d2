import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Fault } from '../fault.ts'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { underLoad } from '../under-load.ts'

export const killedServerOnSqlite: Fault = {
  id: 'F1',
  title: 'the only server is killed',
  links: ['sqlite'],
  trials: 80,
  seconds: 4,
  async run(scene) {
    const { cluster } = scene
    const [server] = cluster.servers as [ServerProcess]
    const result = await underLoad(scene, { begin: () => server.kill(), end: () => server.start() })
    const file = new DatabaseSync(join(cluster.folder, 'plenum.db'), { readOnly: true })
    const { integrity_check: check } = file.prepare('pragma integrity_check').get() as Record<string, string>
    file.close()
    if (check !== 'ok') result.problems.push('the database file is damaged')
    return result
  },
  control: {
    name: 'a server that acknowledges before it commits',
    cluster: { program: 'earlyAnswers' },
  },
}
