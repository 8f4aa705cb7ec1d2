// Bundles what is shipped into the dist folders. Dependencies stay outside, where they are installed; only threads have theirs inside.
//   build.mjs                   everything, with types
//   build.mjs --server [folder] the server alone, unless it is built from these very sources already;
//                               files that are named after the folder are programs beside it
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'

const isDependency = (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@plenum/')

async function bundle(input, dir, platform, external = isDependency) {
  const build = await rolldown({
    input,
    platform,
    resolve: { conditionNames: ['plenum-source', 'import', 'default'] },
    external,
  })
  await build.write({ dir, format: 'esm', sourcemap: true })
  await build.close()
}

function hashOfSources() {
  const hash = createHash('sha256')
  // The threads hold their dependencies.
  for (const file of ['package-lock.json', 'scripts/build.mjs']) hash.update(readFileSync(file))
  for (const folder of ['packages/protocol/src', 'packages/server/src']) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (/\.(ts|mjs)$/.test(file)) hash.update(file).update(readFileSync(join(folder, file)))
    }
  }
  return hash.digest('hex')
}

async function buildServer(dist, programs = []) {
  const stamp = join(dist, 'built-from')
  const sources = hashOfSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  const entries = {
    main: 'packages/server/src/main.ts',
    ...Object.fromEntries(programs.map((file) => [basename(file, '.ts'), file])),
  }
  rmSync(dist, { recursive: true, force: true })
  await bundle(entries, dist, 'node')
  // Threads start again and again. With their dependencies in one file they do it in half the time.
  const worker = { 'document-worker': 'packages/server/src/realtime/document-worker.ts' }
  await bundle(worker, dist, 'node', (id) => id.startsWith('node:'))
  copyFileSync('packages/server/src/store/checkpoint-worker.mjs', join(dist, 'checkpoint-worker.mjs'))
  writeFileSync(stamp, sources)
}

async function buildLibraries() {
  for (const name of ['protocol', 'client']) rmSync(`packages/${name}/dist`, { recursive: true, force: true })
  await bundle(
    {
      index: 'packages/protocol/src/index.ts',
      errors: 'packages/protocol/src/errors.ts',
      realtime: 'packages/protocol/src/realtime.ts',
    },
    'packages/protocol/dist',
    'neutral',
  )
  await bundle(
    {
      index: 'packages/client/src/index.ts',
      rest: 'packages/client/src/rest.ts',
      react: 'packages/client/src/react.ts',
    },
    'packages/client/dist',
    'browser',
  )
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
  for (const name of ['protocol', 'client']) {
    cpSync(`dist/types/${name}/src`, `packages/${name}/dist`, { recursive: true })
  }
  rmSync('dist', { recursive: true })
}

const [only, folder, ...programs] = process.argv.slice(2)
await buildServer(folder ?? 'packages/server/dist', programs)
if (only !== '--server') await buildLibraries()
