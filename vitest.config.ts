import { availableParallelism } from 'node:os'
import { defaultClientConditions, defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { compileSources } from './scripts/compile-sources.mjs'
import { LongestFirst } from './scripts/longest-first.ts'

const ownClock = 'packages/client/src/**/*.test.ts'

const compiledFile = await compileSources()

export default defineConfig({
  plugins: [
    {
      name: 'compiled-sources',
      enforce: 'pre',
      async resolveId(source, importer, options) {
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
        const compiled = resolved && compiledFile(resolved.id)
        return compiled ? { id: compiled, external: true } : resolved
      },
    },
  ],
  // Workspace packages are tested from their sources; nothing has to be built first.
  resolve: { conditions: ['plenum-source', ...defaultClientConditions] },
  ssr: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } },
  // The global setup has an environment of its own.
  environments: { __vitest__: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } } },
  test: {
    // Not threads: ending a worker thread that has loaded the SQLite addon aborts the whole process.
    pool: 'forks',
    // One more than two processors: tests often wait for disks, sockets and other processes.
    maxWorkers: Math.min(4, Math.max(3, availableParallelism())),
    sequence: { sequencer: LongestFirst },
    // y-websocket writes every denial to the console, with the token.
    onConsoleLog: (log) => !log.startsWith('Permission denied to access'),
    // These end what hangs and say nothing about speed: machines may be slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A test that expects too much of a busy machine passes when it runs again, and is listed at the end of the run.
    // Tests that look for lost writes have `retry: 0`.
    retry: 2,
    // Less than clients take to come back by themselves, so that what was not told is missed.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './scripts/ci-reporter.mjs'],
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/*.test.ts'],
          exclude: [ownClock],
          globalSetup: 'packages/server/test/support/global-setup.ts',
          setupFiles: 'packages/server/test/support/random-setup.ts',
          isolate: false,
        },
      },
      // They count the timers of their process: nobody else may have set one.
      { extends: true, test: { name: 'client', include: [ownClock] } },
    ],
  },
})
