/**
 * The real server, with one change that the environment names:
 *   LAB_CHANGE=alone     it believes that no other server uses the database
 *   LAB_CHANGE=unatomic  the statements of a transaction are committed one by one
 *   LAB_KILL_AT=1 … 6    it kills itself at this point of the first compaction of an editor
 */
import type { KyselyPlugin } from 'kysely'
import { createSecrets } from '../../packages/server/src/access/credentials/secrets.ts'
import { databaseSettingsOf, readConfig } from '../../packages/server/src/config.ts'
import { createLog } from '../../packages/server/src/platform/log/log.ts'
import { createMetrics } from '../../packages/server/src/platform/metrics/metrics.ts'
import { createServer } from '../../packages/server/src/server.ts'
import type { Database } from '../../packages/server/src/store/engine/db.ts'
import { openDatabase } from '../../packages/server/src/store/engine/open.ts'

const config = readConfig(process.env)
const opened = await openDatabase(databaseSettingsOf(config))
const { LAB_CHANGE: change, LAB_KILL_AT: killAt } = process.env
let database: Database = opened
if (change === 'alone') database = { ...opened, exclusive: true }
if (change === 'unatomic') database = { ...opened, write: (work) => work(opened.read) }
if (killAt !== undefined) database = killedInCompaction(database, Number(killAt))
const secrets = createSecrets(config.secretKey ?? '')
const log = createLog(config.logLevel, process.stdout)
await createServer({ config, database, secrets, metrics: createMetrics(), log }).start()

/** Points 1 to 4 are before the statements of a compaction, 5 is before its commit, and 6 after it. */
function killedInCompaction(database: Database, point: number): Database {
  const tables = ['editors', 'editor_snapshots', 'editor_snapshot_parts', 'editor_updates']
  const die = () => process.kill(process.pid, 'SIGKILL')
  return {
    ...database,
    async write(work, lane) {
      let isCompaction = false
      const plugin: KyselyPlugin = {
        transformQuery({ node }) {
          const text = JSON.stringify(node)
          // Only a compaction sets this column.
          if (node.kind === 'UpdateQueryNode' && text.includes('snapshot_seq')) isCompaction = true
          const table = tables[point - 1]
          if (isCompaction && table !== undefined && text.includes(`"name":"${table}"`)) die()
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const answer = await database.write(async (db) => {
        const result = await work(db.withPlugin(plugin))
        if (isCompaction && point === 5) die()
        return result
      }, lane)
      if (isCompaction && point === 6) die()
      return answer
    },
  }
}
