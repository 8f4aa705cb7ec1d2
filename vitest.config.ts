import { defaultClientConditions, defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Workspace packages are tested from their sources; nothing has to be built first.
  resolve: { conditions: ['plenum-source', ...defaultClientConditions] },
  ssr: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/*.test.ts'],
    globalSetup: 'packages/server/test/global-setup.ts',
    // Not threads: ending a worker thread that has loaded the SQLite addon aborts the whole process.
    pool: 'forks',
    isolate: false,
    // Most of them wait for sockets, disks and processes most of the time.
    maxWorkers: 2,
    // y-websocket writes every denial to the console, with the token.
    onConsoleLog: (log) => !log.startsWith('Permission denied to access'),
    // These end what hangs and say nothing about speed: machines may be slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Less than clients take to come back by themselves, so that what was not told is missed.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './scripts/ci-reporter.mjs'],
  },
})
