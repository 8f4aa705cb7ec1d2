#!/usr/bin/env node
import { mkdirSync } from 'node:fs'
import { createSecrets, loadOrCreateSecretKey } from './access/secrets.ts'
import { printBanner } from './banner.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createLog } from './platform/log.ts'
import { createMetrics } from './platform/metrics.ts'
import { createServer } from './server.ts'
import { openDatabase } from './store/db.ts'
import { OpenError } from './store/failures.ts'

/** The only file that knows all parts: reads the configuration, builds them, listens, shuts down. */
async function main(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  const exit = (code: number) => process.exit(code)

  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const secrets = createSecrets(config.secretKey ?? loadOrCreateSecretKey(config.dataDir))
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    durability: config.durability,
    poolSize: config.databasePoolSize,
    observe: metrics.database,
    onFatal(error) {
      log.fatal({ err: error }, 'the disk refused a sync; stopping, because what it holds is unknown')
      exit(1)
    },
  })
  const server = createServer({ config, database, secrets, metrics, log })

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'shutting down')
    setTimeout(() => {
      log.warn('stopped before all requests were answered')
      exit(1)
    }, config.shutdownSeconds * 1000).unref()
    await server.stop()
    await database.close()
    log.info('stopped')
    exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void stop(signal))
  process.on('uncaughtException', (error) => {
    // What is acknowledged is on disk, so ending here loses nothing; going on in an unknown state might.
    log.fatal({ err: error }, 'uncaught exception')
    exit(1)
  })

  const address = await server.start()
  printBanner(config, address)
}

try {
  process.loadEnvFile()
} catch {
  // Without a .env file the environment is all there is.
}
try {
  await main(readConfig(process.env))
} catch (error) {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  const isExpected = error instanceof ConfigError || error instanceof OpenError || syscall !== undefined
  const reason = code === 'EADDRINUSE' ? 'The port is in use. Set PORT to another one.' : message
  console.error('Plenum cannot start:', isExpected ? reason : error)
  process.exit(1)
}
