import { availableParallelism } from 'node:os'
import { defaultClientConditions, defaultServerConditions, type Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { compileSources } from './scripts/compile-sources.mjs'

const ownClock = 'packages/client/src/**/*.test.ts'
/** Pages in a real browser. */
const browser = '**/*.browser.test.ts'
/** Large data, repetitions and long waits, for `npm run test:long`. */
const long = '**/*.long.test.ts'
const server = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/*.test.ts']

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

const plugins = process.argv.includes('watch') ? [] : [compiledSources]
const resolve = { conditions: ['plenum-source', ...defaultClientConditions] }
const ssr = { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } }

interface Files {
  include: string[]
  exclude?: string[]
  setupFiles?: string
}

/** The files of a project share their workers, and no worker has files of two projects. */
const project = (name: string, files: Files) => ({
  plugins,
  resolve,
  ssr,
  test: {
    name,
    ...files,
    isolate: false,
    // Not threads: ending a worker thread that has loaded the SQLite addon aborts the whole process.
    pool: 'forks' as const,
    // These end what hangs and say nothing about speed: machines may be slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Less than clients take to come back by themselves, so that what was not told is missed.
    expect: { poll: { timeout: 15_000 } },
    runner: 'packages/server/test/support/runner.ts',
  },
})

const setupFiles = 'packages/server/test/support/setup.ts'

export default defineConfig({
  plugins,
  // The global setup has an environment of its own.
  environments: { __vitest__: { resolve: { conditions: ['plenum-source', ...defaultServerConditions] } } },
  test: {
    // One more than two processors: tests often wait for disks, sockets and other processes.
    maxWorkers: Math.min(4, Math.max(3, availableParallelism())),
    // y-websocket writes every denial to the console, with the token.
    onConsoleLog: (log) => !log.startsWith('Permission denied to access'),
    reporters: ['default', './scripts/test-reporter.mjs'],
    globalSetup: 'packages/server/test/support/services/global-setup.ts',
    provide: { compiledServer: compiled.server },
    projects: [
      // After a page was opened, Node reports each promise of the process to the library that controls the browser.
      project('browser', { include: [browser], setupFiles }),
      // They count the timers of their process: nobody else may have set one.
      project('client', { include: [ownClock] }),
      project('long', { include: [long], setupFiles }),
      project('server', { include: server, exclude: [ownClock, browser, long], setupFiles }),
    ],
  },
})
