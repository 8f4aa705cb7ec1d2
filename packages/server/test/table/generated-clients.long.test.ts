import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'

const root = join(import.meta.dirname, '../../../..')
const document = join(root, 'openapi.json')
const execute = promisify(execFile)

const packages = {
  'openapi-typescript': '7.13.0',
  '@hey-api/openapi-ts': '0.95.0',
  orval: '7.13.2',
  // The generators need the compiler that is written in TypeScript.
  typescript: '5.9.3',
}

/** Use the clients as an application does. The lines with `expect-error` must not compile. */
const applications = {
  'typescript.ts': `
    import type { components } from './openapi-typescript.ts'
    type Bodies = components['requestBodies']
    type Data<Name extends keyof Bodies> = Bodies[Name]['content']['application/json'] extends { data: infer D } ? D : never
    export const text: Data<'CrdtAdd'> = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: 'Hi' }
    // @ts-expect-error A text is a string.
    export const wrong: Data<'CrdtAdd'> = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: {} }
    export const access: Data<'FoldersUpdateAccess'> = { organizationId: 'o', folderIds: ['f'], inheritFromParent: true }
    // @ts-expect-error v1 ignores inheritFromParent.
    export const older: Data<'FoldersUpdateAccessV1'> = { organizationId: 'o', folderIds: ['f'], inheritFromParent: true }
    export const id: components['schemas']['OrganizationId'] = 'o'`,
  'hey-api.ts': `
    import { type EditorContent, type OrganizationId, organizationsGet } from './hey-api/index.ts'
    export const text: EditorContent = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: 'Hi' }
    // @ts-expect-error A text is a string.
    export const wrong: EditorContent = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: {} }
    export const id: OrganizationId = 'o'
    export const read = async () => {
      const { data } = await organizationsGet({ body: { data: { organizationIds: [id] } } })
      return data?.result.data.map((one) => one.organizationName.length)
    }`,
  'orval.ts': `
    import { type EditorContent, type OrganizationId, organizationsGet } from './orval/client.ts'
    export const text: EditorContent = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: 'Hi' }
    // @ts-expect-error A text is a string.
    export const wrong: EditorContent = { organizationId: 'o', documentId: 'd', editorId: 'e', type: 'text', data: {} }
    export const id: OrganizationId = 'o'
    export const read = async () => {
      const answer = await organizationsGet({ data: { organizationIds: [id] } })
      return answer.status === 200 ? answer.data.result.data.map((one) => one.organizationName.length) : []
    }`,
}

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'ES2022',
  module: 'ESNext',
  moduleResolution: 'Bundler',
  allowImportingTsExtensions: true,
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: [],
  skipLibCheck: true,
}

test('[0.1.10] [0.1.11] clients that openapi-typescript, hey-api and orval generate from the OpenAPI document compile with strict types', async () => {
  const folder = newFolder()
  const run = (program: string, ...args: string[]) =>
    execute(program, args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 }).catch(
      (error: { stdout: string }) => {
        throw new Error(`${program} ${args.join(' ')} failed:\n${error.stdout}`, { cause: error })
      },
    )
  const write = (file: string, content: unknown) =>
    writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  write('package.json', { type: 'module', private: true, dependencies: packages })
  await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent')

  await run('node_modules/.bin/openapi-typescript', document, '-o', 'openapi-typescript.ts')
  await run('node_modules/.bin/openapi-ts', '-i', document, '-o', 'hey-api')
  await run(
    'node_modules/.bin/orval',
    '--input',
    document,
    '--output',
    './orval/client.ts',
    '--client',
    'fetch',
  )

  for (const [file, text] of Object.entries(applications)) write(file, text)
  write('tsconfig.json', { compilerOptions, include: ['*.ts', 'hey-api', 'orval'] })
  const { stdout } = await run(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
  expect(stdout).toBe('')
}, 600_000)
