import { rolldown } from 'rolldown'

const isDependency = (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@plenum/')

export async function bundle(input, dir, platform, external = isDependency) {
  const build = await rolldown({
    input,
    platform,
    resolve: { conditionNames: ['plenum-source', 'import', 'default'] },
    external,
    // Without the warning: 'use client' stays at the top of the hooks, and a test checks it.
    checks: { moduleLevelDirective: false },
  })
  await build.write({ dir, format: 'esm', sourcemap: true })
  await build.close()
}

/** Not for the platform `browser`, which replaces `process.env.NODE_ENV`: the application's bundler must do that. */
export const bundleClient = (dir) =>
  bundle(
    {
      index: 'packages/client/src/index.ts',
      rest: 'packages/client/src/rest.ts',
      react: 'packages/client/src/react.ts',
    },
    dir,
    'neutral',
  )
