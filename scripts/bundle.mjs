import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

export const isDependency = (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@plenum/')

export async function bundle(input, dir, platform, external = isDependency) {
  const build = await rolldown({
    input,
    platform,
    resolve: { conditionNames: ['plenum-source', 'import', 'default'] },
    external,
    // Switches off the warning about 'use client': the directive stays at the top of react.js, and a test checks that.
    checks: { moduleLevelDirective: false },
  })
  await build.write({ dir, format: 'esm', sourcemap: true })
  await build.close()
}

/** Bundles the program of worker threads with all its dependencies: threads restart often, and one file loads faster. */
export const bundleWorker = (dir) =>
  bundle({ worker: `${root}packages/server/src/worker.ts` }, dir, 'node', (id) => id.startsWith('node:'))

/**
 * Bundles the client for the platform `neutral`. The platform `browser` would replace `process.env.NODE_ENV`, which only
 * the bundler of the application can do.
 */
export const bundleClient = (dir) =>
  bundle(
    {
      index: 'packages/client/src/index.ts',
      rest: 'packages/client/src/rest.ts',
      prosemirror: 'packages/client/src/prosemirror.ts',
      react: 'packages/client/src/react.ts',
    },
    dir,
    'neutral',
  )

export const bundleProtocol = (dir) =>
  bundle(
    {
      index: 'packages/protocol/src/index.ts',
      errors: 'packages/protocol/src/errors.ts',
      messages: 'packages/protocol/src/messages/index.ts',
      realtime: 'packages/protocol/src/realtime.ts',
    },
    dir,
    'neutral',
  )
