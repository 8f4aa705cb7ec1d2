// Bundles the server, the client and the protocol into their dist folders. The server's bundle contains most of its
// dependencies, because loading hundreds of small files takes half of the time of a start. The others contain none.
//   build.mjs                              all
//   build.mjs --protocol [folder]          only the protocol, with its types
//   build.mjs --client [folder]            only the client, with its types
//   build.mjs --server [folder]            only the server, unless it is already built from the same sources
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildServer as writeServer, hashOfServer } from './build-server.mjs'
import { bundleClient, bundleProtocol } from './bundle.mjs'

async function buildServer(dist) {
  const stamp = join(dist, 'built-from')
  const sources = hashOfServer()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  rmSync(dist, { recursive: true, force: true })
  await writeServer(dist)
  writeFileSync(stamp, sources)
}

/** The client's types include those of the protocol that it uses: applications install no other package of Plenum. */
async function buildClient(dist) {
  rmSync(dist, { recursive: true, force: true })
  await bundleClient(dist)
  writeTypes('tsconfig.build.json', dist, (file) =>
    file.replace(/^client\/src\//, '').replace(/^protocol\/src\//, 'protocol/'),
  )
}

async function buildProtocol(dist) {
  rmSync(dist, { recursive: true, force: true })
  await bundleProtocol(dist)
  writeTypes('tsconfig.protocol.json', dist, (file) => file.replace(/^protocol\/src\//, ''))
}

function writeTypes(project, dist, targetOf) {
  const types = mkdtempSync(join(tmpdir(), 'plenum-types-'))
  try {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', types]
    execFileSync(process.execPath, tsc, { stdio: 'inherit' })
    copyTypes(types, dist, targetOf)
  } finally {
    rmSync(types, { recursive: true })
  }
}

/** Rewrites the imports to the copied files. */
function copyTypes(from, dist, targetOf) {
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    const target = targetOf(file)
    const depth = target.split('/').length - 1
    const protocol = `${'../'.repeat(depth) || './'}protocol`
    const text = readFileSync(join(from, file), 'utf8')
      .replaceAll(/'@plenum\/protocol\/(\w+)'/g, `'${protocol}/$1.js'`)
      .replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")
    mkdirSync(dirname(join(dist, target)), { recursive: true })
    writeFileSync(join(dist, target), text)
  }
  checkImports(dist)
}

/**
 * The compiler writes no types of files that it regards as a foreign package. A file of the protocol is one if the compiler
 * finds it first through an import of `@plenum/protocol`, and which import it finds first differs from run to run. So
 * tsconfig.build.json names all files of the protocol whose types the client needs.
 */
function checkImports(dist) {
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    for (const [, path] of readFileSync(join(dist, file), 'utf8').matchAll(
      /(?:from |import\()'(\.[^']*)\.js'/g,
    )) {
      if (!existsSync(join(dist, dirname(file), `${path}.d.ts`)))
        throw new Error(
          `${file} imports ${path}.js, whose types are missing: name its source in the tsconfig file.`,
        )
    }
  }
}

const [option, folder] = process.argv.slice(2)
const builds = (name) => option === undefined || option === `--${name}`
if (builds('protocol')) await buildProtocol(folder ?? 'packages/protocol/dist')
if (builds('server')) await buildServer(folder ?? 'packages/server/dist')
if (builds('client')) await buildClient(folder ?? 'packages/client/dist')
