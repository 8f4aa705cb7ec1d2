import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as given from '../../server/test/support/given.ts'
import { startServer, type TestServer } from '../../server/test/support/harness.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'plenum-package-'))
const project = join(folder, 'project')
let server: TestServer

const execute = promisify(execFile)

/** Runs a program and returns what it prints. A failure shows both outputs: the compiler prints its errors to the first. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    return (await execute(program, args, { cwd })).stdout.trim()
  } catch (error) {
    const { message, stdout, stderr } = error as Error & Record<'stdout' | 'stderr', string>
    throw new Error(`${message}\n${stdout}${stderr}`, { cause: error })
  }
}

/** Packs these folders and returns the paths of the archives. */
async function pack(...paths: string[]): Promise<string[]> {
  const names = await run(folder, 'npm', 'pack', '--silent', '--ignore-scripts', ...paths)
  return names.split('\n').map((name) => join(folder, name))
}

/** The dependencies of the client and of Yjs. They are installed from this repository instead of a registry. */
const dependencies = ['lib0', 'y-protocols', 'isomorphic.js']

beforeAll(async () => {
  server = await startServer('sqlite')
  const source = join(folder, 'client')
  mkdirSync(source)
  mkdirSync(project)
  await run(root, process.execPath, 'scripts/build.mjs', '--client', join(source, 'dist'))
  cpSync(join(root, 'packages/client/package.json'), join(source, 'package.json'))
  const folders = ['yjs', ...dependencies].map((name) => join(root, 'node_modules', name))
  const [client = '', yjs = '', ...others] = await pack(source, ...folders)
  const overrides = Object.fromEntries(dependencies.map((name, index) => [name, `file:${others[index]}`]))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', overrides }))
  await run(
    project,
    'npm',
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    client,
    yjs,
  )
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('[K13] the packed client depends only on lib0 and y-protocols, and imports neither a package of Plenum nor the schema library', () => {
  const installed = join(project, 'node_modules')
  const names = readdirSync(installed).filter((name) => !name.startsWith('.'))
  expect(names.sort()).toEqual(['@plenum', 'isomorphic.js', 'lib0', 'y-protocols', 'yjs'])
  expect(readdirSync(join(installed, '@plenum'))).toEqual(['client'])
  const client = join(installed, '@plenum/client')
  const manifest = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'))
  expect(Object.keys(manifest.dependencies)).toEqual(['lib0', 'y-protocols'])
  const shipped = readdirSync(client, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(js|d\.ts)$/.test(file),
  )
  expect(shipped).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/rest.d.ts']))
  const foreign = shipped.filter((file) =>
    /from '(@plenum|typebox)|import\('(@plenum|typebox)/.test(readFileSync(join(client, file), 'utf8')),
  )
  expect(foreign).toEqual([])
})

test('[K13] an application that installs the packed client compiles with all strict checks, and runs', async () => {
  const { client, apiKey, authToken } = await given.tenant(server)
  await client.organizations.add({ organizations: [{ organizationId: 'acme' }] })
  const application = `
    import { ApiError, closeCodes, type Connection, createClient, type OrganizationsGetInput } from '@plenum/client'
    import { createClient as createRestClient } from '@plenum/client/rest'
    import * as Y from 'yjs'
    declare const process: { argv: string[] }

    // @ts-expect-error: ids are strings
    export const wrong: OrganizationsGetInput = { organizationIds: [1] }
    export function open(connection: Connection): [cursor: number | undefined, doc: Y.Doc] {
      const document = connection.document<{ cursor: number }>('acme', 'roadmap')
      return [document.presence.self?.data?.cursor, document.editor('note', { doc: new Y.Doc() }).doc]
    }

    const [, , url = '', apiKey = '', authToken = ''] = process.argv
    const { data } = await createClient({ url, apiKey, authToken }).organizations.get()
    const ids: string[] = data.map(({ id }) => id)
    const refused: unknown = await createRestClient({ url, apiKey, authToken: 'another' })
      .organizations.get()
      .catch((error: unknown) => error)
    console.log(JSON.stringify({ ids, refused: refused instanceof ApiError && refused.status, gone: closeCodes.gone }))
  `
  writeFileSync(join(project, 'main.ts'), application)
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
  await run(project, process.execPath, join(root, 'node_modules/typescript/bin/tsc'))
  const printed = await run(project, process.execPath, 'main.js', server.url, apiKey, authToken)
  expect(JSON.parse(printed)).toEqual({ ids: ['acme'], refused: 'UNAUTHENTICATED', gone: 4404 })
})
