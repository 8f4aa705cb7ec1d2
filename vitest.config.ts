import { availableParallelism } from 'node:os'
import { defaultClientConditions, defaultServerConditions, type Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { compileSources } from './scripts/compile-sources.mjs'

const ownClock = 'packages/client/src/**/*.test.ts'
/** Repetitions and long waits, for `npm run test:long`. */
const long = '**/*.long.test.ts'
/** How tests run that start servers. */
const withServers = {
  globalSetup: 'packages/server/test/support/services/global-setup.ts',
  setupFiles: 'packages/server/test/support/setup.ts',
  isolate: false,
}

const compiled = await compileSources()

/** Loads the compiled sources instead of the sources. `npm run test:watch` loads the sources, so that it sees their changes. */
const compiledSources: Plugin = {
  name: 'compiled-sources',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    const id = resolved && compiled.fileOf(resolved.id)
    return id ? { id, external: true } : resolved
  },
}

export default defineConfig({
  plugins: process.argv.includes('watch') ? [] : [compiledSources],
  resolve: { conditions: ['plenum-source', ...defaultClientConditions] },
  ssr: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } },
  // The global setup has an environment of its own.
  environments: { __vitest__: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } } },
  test: {
    // Not threads: ending a worker thread that has loaded the SQLite addon aborts the whole process.
    pool: 'forks',
    // One more than two processors: tests often wait for disks, sockets and other processes.
    maxWorkers: Math.min(4, Math.max(3, availableParallelism())),
    // y-websocket writes every denial to the console, with the token.
    onConsoleLog: (log) => !log.startsWith('Permission denied to access'),
    // These end what hangs and say nothing about speed: machines may be slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Until the whole run has been green ten times without it. The end of the run lists what passed only then.
    retry: 2,
    // Less than clients take to come back by themselves, so that what was not told is missed.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './scripts/test-reporter.mjs'],
    runner: 'packages/server/test/support/runner.ts',
    provide: { compiledServer: compiled.server },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/*.test.ts'],
          exclude: [ownClock, long],
          ...withServers,
        },
      },
      // They count the timers of their process: nobody else may have set one.
      { extends: true, test: { name: 'client', include: [ownClock], isolate: false } },
      { extends: true, test: { name: 'long', include: [long], ...withServers } },
    ],
  },
})
