// Bundles the server and the client into their dist folders, or the server alone into the folder that is named.
// Dependencies stay outside: they are installed, not copied.
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

const [folder] = process.argv.slice(2)
const server = folder ?? 'packages/server/dist'

await bundle({ main: 'packages/server/src/main.ts' }, server, { platform: 'node' })
copyFileSync('packages/server/src/store/checkpoint-worker.mjs', `${server}/checkpoint-worker.mjs`)
if (!folder) {
  await bundle({ index: 'packages/client/src/index.ts' }, 'packages/client/dist', { platform: 'browser' })
}
