/**
 * The control of the kill test: a server that answers a write before its transaction is committed. Everything else is
 * the real server, so a test that detects no loss here would never detect one.
 */
import { createSecrets } from '../../../src/access/credentials/secrets.ts'
import { readConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/platform/log/log.ts'
import { createMetrics } from '../../../src/platform/metrics/metrics.ts'
import { createServer } from '../../../src/server.ts'
import type { Database } from '../../../src/store/engine/db.ts'
import { openDatabase } from '../../../src/store/engine/open.ts'

const config = readConfig(process.env)
const database = await openDatabase({
  url: config.databaseUrl,
  dataDir: config.dataDir,
  durability: config.durability,
  poolSize: config.databasePoolSize,
})
const early: Database = {
  ...database,
  write: (work) =>
    new Promise((resolve, reject) => {
      database
        .write(async (db) => {
          const result = await work(db)
          resolve(result)
          await new Promise((later) => setTimeout(later, 100))
          return result
        })
        .catch(reject)
    }),
  writeShort: (work, lane) => early.write(work, lane),
  writeCombined: (combined, item, lane) =>
    early.write(async (db) => {
      const [outcome] = await combined.runAll(db, [item])
      if (outcome && 'value' in outcome) return outcome.value
      throw outcome?.error ?? new Error('A write that runs alone must have an outcome.')
    }, lane),
}
const secrets = createSecrets(config.secretKey ?? '')
const log = createLog(config.logLevel, process.stdout)
await createServer({ config, database: early, secrets, metrics: createMetrics(), log }).start()
