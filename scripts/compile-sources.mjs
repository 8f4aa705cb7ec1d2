/**
 * Compiles the sources of the packages to one JavaScript file each, for tests. Node loads these files natively: vitest would
 * transform every file again for each of its workers, and turn every use of an imported name into a call of a getter.
 */
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { buildOnce, hashOfSources } from './build-once.mjs'
import { bundleWorker, isDependency } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = ['protocol', 'client', 'server']

/** Not bundled: it is copied beside the compiled file that starts it. */
const checkpointWorker = 'packages/server/src/store/engine/checkpoint-worker.mjs'

const isSource = (file) => /\.tsx?$/.test(file) && !/\.(test|d)\.tsx?$/.test(file)

/**
 * Compiles the sources unless that is done. Returns the URL of the compiled `server.ts`, beside which is the bundled program
 * of worker threads, and a function that returns the compiled file of a source, or undefined for any other file.
 */
export async function compileSources() {
  const scripts = ['compile-sources', 'build-once', 'bundle'].map((name) => `scripts/${name}.mjs`)
  const folders = packages.map((name) => `packages/${name}/src`)
  const hash = hashOfSources(['package-lock.json', checkpointWorker, ...scripts], folders, isSource)
  const folder = await buildOnce('compiled', hash, compile)
  return {
    server: pathToFileURL(join(folder, 'server/src/server.js')).href,
    fileOf: (file) =>
      packages.some((name) => file.startsWith(`${root}packages/${name}/src/`)) && isSource(file)
        ? join(folder, relative(`${root}packages`, file).replace(/\.tsx?$/, '.js'))
        : undefined,
  }
}

async function compile(folder) {
  const files = packages.flatMap((name) =>
    readdirSync(`${root}packages/${name}/src`, { recursive: true, encoding: 'utf8' })
      .filter(isSource)
      .map((file) => `${name}/src/${file}`),
  )
  const build = await rolldown({
    input: Object.fromEntries(files.map((file) => [file.replace(/\.tsx?$/, ''), `${root}packages/${file}`])),
    platform: 'node',
    resolve: { conditionNames: ['plenum-source', 'import', 'default'] },
    external: isDependency,
    checks: { moduleLevelDirective: false },
  })
  await build.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    preserveModules: true,
    preserveModulesRoot: `${root}packages`,
    entryFileNames: '[name].js',
  })
  await build.close()
  const server = join(folder, 'server/src')
  await bundleWorker(server)
  copyFileSync(root + checkpointWorker, join(server, 'store/engine/checkpoint-worker.mjs'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
}
