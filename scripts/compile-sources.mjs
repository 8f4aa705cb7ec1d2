/**
 * Compiles the sources of the packages to one JavaScript file each, for tests. Node loads these files natively: vitest would
 * transform every file again for each of its workers, and turn every use of an imported name into a call of a getter.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { bundleWorker, isDependency } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = ['protocol', 'client', 'server']
/** Below the server, so that imports of dependencies are resolved as in the sources. */
const compiledFolder = `${root}packages/server/node_modules/.cache/compiled`
const keptMs = 24 * 60 * 60 * 1000

const isSource = (file) => /\.tsx?$/.test(file) && !/\.(test|d)\.tsx?$/.test(file)

function* sourcesOf(folder) {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (isSource(file)) yield file
}

function hashOfSources() {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'scripts/compile-sources.mjs', 'scripts/bundle.mjs'])
    hash.update(readFileSync(join(root, file)))
  for (const name of packages) {
    const folder = `${root}packages/${name}/src/`
    for (const file of sourcesOf(folder)) hash.update(`${name}/${file}\n`).update(readFileSync(folder + file))
  }
  return hash.digest('hex').slice(0, 16)
}

/**
 * Compiles the sources unless that is done. Returns the URL of the compiled `server.ts`, beside which is the bundled program
 * of worker threads, and a function that returns the compiled file of a source, or undefined for any other file.
 */
export async function compileSources() {
  const folder = join(compiledFolder, hashOfSources())
  if (!existsSync(folder)) {
    removeOld()
    const temporary = `${folder}-${process.pid}`
    await compile(temporary)
    try {
      renameSync(temporary, folder)
    } catch (error) {
      // Another process has compiled the same sources meanwhile.
      rmSync(temporary, { recursive: true, force: true })
      if (!existsSync(folder)) throw error
    }
  }
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
    Array.from(sourcesOf(`${root}packages/${name}/src`), (file) => `${name}/src/${file}`),
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
  copyFileSync(
    `${root}packages/server/src/store/engine/checkpoint-worker.mjs`,
    join(server, 'store/engine/checkpoint-worker.mjs'),
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
}

/** Removes what earlier sources were compiled to, unless a run may still use it. */
function removeOld() {
  mkdirSync(compiledFolder, { recursive: true })
  for (const name of readdirSync(compiledFolder)) {
    const path = join(compiledFolder, name)
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true })
  }
}
