import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOfSources } from './build-once.mjs'
import { bundle, bundleWorker } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Loaded from node_modules: CommonJS packages, and the native package of SQLite. */
const unbundled = new Set(['@photostructure/sqlite', 'fastify', 'ioredis', 'pg', 'pino', 'prom-client', 'ws'])

/** Hashes everything that the server and the programs beside it are built from. */
export const hashOfServer = (programs = []) =>
  hashOfSources(
    // The lock file too, because the bundles contain dependencies.
    ['package-lock.json', 'openapi.json', 'scripts/build-server.mjs', 'scripts/bundle.mjs', ...programs],
    ['packages/protocol/src', 'packages/server/src'],
    (file) => /\.(ts|mjs)$/.test(file),
  )

/** Writes the server into the folder, as `main.js`. The programs are bundled beside it, under their own names. */
export async function buildServer(dist, programs = []) {
  const entries = ['packages/server/src/main.ts', ...programs].map((file) => [
    basename(file, '.ts'),
    root + file,
  ])
  await bundle(Object.fromEntries(entries), dist, 'node', (id) => id.startsWith('node:') || unbundled.has(id))
  await bundleWorker(dist)
  copyFileSync(
    `${root}packages/server/src/store/engine/checkpoint-worker.mjs`,
    join(dist, 'checkpoint-worker.mjs'),
  )
  // The only file of @scalar/fastify-api-reference that the server needs.
  const scalar = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'))
  copyFileSync(join(scalar, 'js/standalone.js'), join(dist, 'reference.js'))
  // Building openapi.json from the table takes 60 ms, which would block the event loop at the first request.
  const openapi = JSON.parse(readFileSync(`${root}openapi.json`, 'utf8'))
  writeFileSync(join(dist, 'openapi.json'), JSON.stringify(openapi))
  // For `npx plenum` in a clone.
  chmodSync(join(dist, 'main.js'), 0o755)
}
