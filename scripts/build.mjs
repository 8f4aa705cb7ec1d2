// Bundles what is shipped into the dist folders. Dependencies stay outside, where they are installed; only threads have theirs inside.
//   build.mjs                   everything
//   build.mjs --client [folder] the client alone, with its types
//   build.mjs --server [folder] the server alone, unless it is built from these very sources already;
//                               files that are named after the folder are programs beside it
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { bundle, bundleClient } from './bundle.mjs'

function hashOfSources() {
  const hash = createHash('sha256')
  // The threads hold their dependencies.
  for (const file of ['package-lock.json', 'scripts/build.mjs', 'scripts/bundle.mjs'])
    hash.update(readFileSync(file))
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
  const worker = { worker: 'packages/server/src/worker.ts' }
  await bundle(worker, dist, 'node', (id) => id.startsWith('node:'))
  copyFileSync('packages/server/src/store/engine/checkpoint-worker.mjs', join(dist, 'checkpoint-worker.mjs'))
  // The one file of its package that the server needs.
  const scalar = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'))
  copyFileSync(join(scalar, 'js/standalone.js'), join(dist, 'reference.js'))
  writeFileSync(stamp, sources)
}

async function buildClient(dist) {
  rmSync(dist, { recursive: true, force: true })
  await bundleClient(dist)
  const types = mkdtempSync(join(tmpdir(), 'plenum-types-'))
  try {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', types]
    execFileSync(process.execPath, tsc, { stdio: 'inherit' })
    copyTypes(types, dist)
  } finally {
    rmSync(types, { recursive: true })
  }
}

/**
 * The types of the client, and beside them those that it uses of the protocol: applications install no other package of
 * ours. Imports name the files as they are there.
 */
function copyTypes(from, dist) {
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    const place = file.replace(/^client\/src\//, '').replace(/^protocol\/src\//, 'protocol/')
    const protocol = `${place.includes('/') ? '../' : './'}protocol`
    const text = readFileSync(join(from, file), 'utf8')
      .replaceAll(/'@plenum\/protocol\/(\w+)'/g, `'${protocol}/$1.js'`)
      .replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")
    mkdirSync(dirname(join(dist, place)), { recursive: true })
    writeFileSync(join(dist, place), text)
  }
}

const [only, folder, ...programs] = process.argv.slice(2)
if (only !== '--client') await buildServer(folder ?? 'packages/server/dist', programs)
if (only !== '--server') await buildClient(folder ?? 'packages/client/dist')
