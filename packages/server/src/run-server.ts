import { loadSecrets } from './access/credentials/secrets.ts'
import { printBanner } from './start/banner.ts'
import { type Config, ConfigError, databaseSettingsOf } from './config.ts'
import { prepareDataDir } from './start/data-dir.ts'
import { createLog } from './platform/log/log.ts'
import { LogDestination, maxFlushMs, standardOutput } from './platform/log/log-destination.ts'
import { createMetrics } from './platform/metrics/metrics.ts'
import { readableLines } from './platform/log/readable-lines.ts'
import { createServer } from './server.ts'
import { openDatabase } from './store/engine/open.ts'
import { OpenError } from './store/engine/failures.ts'
import * as workspaces from './store/workspaces.ts'
import { readSettings } from './start/settings.ts'

/** Opens the log and the database, starts the server, and stops it on a signal. */
async function start(config: Config, hints: readonly string[]): Promise<void> {
  const destination = new LogDestination(standardOutput(), {
    onFailure: ({ message }) =>
      console.error(`Plenum cannot write its log: ${message}. The server keeps running.`),
    onLost: (lines) =>
      log.error({ lines }, 'log lines were lost because standard output did not accept them'),
  })
  const isTerminal = process.stdout.isTTY
  const format = config.logFormat ?? (isTerminal ? 'pretty' : 'json')
  const lines =
    format === 'json' ? destination : readableLines(destination, { colors: isTerminal && config.colors })
  const log = createLog(config.logLevel, lines)
  for (const hint of hints) log.warn(hint)
  const metrics = createMetrics()
  const exit = (code: number) => {
    destination.flushSync()
    process.exit(code)
  }

  if (config.databaseUrl === undefined) prepareDataDir(config.dataDir)
  const secrets = loadSecrets(config)
  const database = await openDatabase({
    ...databaseSettingsOf(config),
    observer: metrics.database,
    onCheckpointFailure: (error) =>
      log.warn({ err: error }, 'cannot checkpoint the write-ahead log into the database file'),
    onUpgradeWaits: (about, message) => log.warn(about, message),
    onFatal(error) {
      log.fatal(
        { err: error },
        'the disk failed a sync; stopping, because it is unknown which writes are on disk',
      )
      exit(1)
    },
  })
  const server = createServer({ config, database, secrets, metrics, log })

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'shutting down')
    setTimeout(
      () => {
        log.warn('SHUTDOWN_SECONDS are over; stopping before all requests are answered')
        exit(1)
      },
      config.shutdownSeconds * 1000 - maxFlushMs,
    ).unref()
    await server.stop()
    await database.close()
    await destination.threadIsIdle()
    log.info('stopped')
    exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void stop(signal))
  process.on('uncaughtException', (error) => {
    // Acknowledged writes are on disk, so to exit loses nothing. To continue in an unknown state might.
    log.fatal({ err: error }, 'uncaught exception')
    exit(1)
  })

  const address = await server.start()
  if (['info', 'debug', 'trace'].includes(config.logLevel)) {
    printBanner(config, { address, hints, isEmpty: await workspaces.isEmpty(database.read) })
  }
}

/** The whole life of a server process. If the server cannot start, prints why and ends the process. */
export async function runServer(): Promise<void> {
  let config: Config | undefined
  let hints: readonly string[] = []
  try {
    ;({ config, hints } = readSettings())
    await start(config, hints)
  } catch (error) {
    console.error('Plenum cannot start:', reasonFor(error, config))
    for (const hint of hints) console.error(hint)
    process.exit(1)
  }
}

/**
 * Returns one sentence if the operator can fix the problem. Any other error is a bug: it is returned, and printed with its
 * stack.
 */
function reasonFor(error: unknown, config: Config | undefined): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  if (error instanceof ConfigError || error instanceof OpenError) return message
  const { port, host } = config ?? {}
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use. Set PORT to another one.`
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `HOST ${host} and PORT ${port} cannot be used: ${message}.`
  return syscall === undefined ? error : message
}
