/**
 * The server with a clock that is 10 times as fast, so that leases of killed servers and pauses before retries end in a
 * tenth of the time. Its processes agree on the time, which starts at TEST_CLOCK_FROM.
 */
import { createSecrets } from '../../../src/access/credentials/secrets.ts'
import { databaseSettingsOf, readConfig } from '../../../src/config.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log/log.ts'
import { createMetrics } from '../../../src/platform/metrics/metrics.ts'
import { createServer } from '../../../src/server.ts'
import { openDatabase } from '../../../src/store/engine/open.ts'

const speed = 10
const startedAt = Number(process.env.TEST_CLOCK_FROM)
const clock: Clock = {
  now: () => startedAt + (Date.now() - startedAt) * speed,
  elapsed: () => performance.now() * speed,
  setTimeout: (run, ms) => systemClock.setTimeout(run, ms / speed),
  setInterval: (run, ms) => systemClock.setInterval(run, ms / speed),
}

const config = readConfig(process.env)
const metrics = createMetrics()
const database = await openDatabase({ ...databaseSettingsOf(config), observer: metrics.database })
const secrets = createSecrets(config.secretKey ?? '')
const log = createLog(config.logLevel, process.stdout)
await createServer({ config, database, secrets, metrics, log, clock }).start()
