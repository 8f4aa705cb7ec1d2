// Bundles the server and the client into their dist folders. Dependencies stay outside: they are installed, not copied.
import { copyFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

const isDependency = (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@plenum/')

async function bundle(input, dir, options = {}) {
  rmSync(dir, { recursive: true, force: true })
  const build = await rolldown({
    input,
    resolve: { conditionNames: ['source', 'import', 'default'] },
    external: isDependency,
    ...options,
  })
  await build.write({ dir, format: 'esm', sourcemap: true, ...options.output })
  await build.close()
}

await bundle({ main: 'packages/server/src/main.ts' }, 'packages/server/dist', { platform: 'node' })
copyFileSync('packages/server/src/store/checkpoint-worker.mjs', 'packages/server/dist/checkpoint-worker.mjs')
await bundle({ index: 'packages/client/src/index.ts' }, 'packages/client/dist', { platform: 'browser' })
