import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LanguageServer } from './support/language-server.ts'

const languageServer = new LanguageServer()
beforeAll(() => languageServer.start())
afterAll(() => languageServer.stop())

describe('hovering', () => {
  const file = 'packages/client/test/hovered.ts'
  const text = `import { createClient } from '../src/index.ts'
const client = createClient({ url: 'http://localhost:4000' })
const { data } = await client.organizations.get({ pageSize: 5 })
console.log(data.map(({ organizationName }) => organizationName))
`
  beforeAll(() => languageServer.open(file, text))
  const hover = (word: string) => languageServer.hover(file, text, word)

  test('[K14] hovering a method shows its description and its path', async () => {
    const shown = await hover('get(')
    expect(shown).toContain('get(input?: OrganizationsGetInput, options?: CallOptions)')
    expect(shown).toContain('Promise<Result<Organization[]>>')
    expect(shown).toContain('Reads organizations, all or by id.')
    expect(shown).toContain('POST /v2/organizations/get')
  })

  test('[K14] hovering a family, an input field or an answer field shows its description', async () => {
    expect(await hover('organizations')).toContain('folders, documents and users belong to an organization.')
    expect(await hover('pageSize')).toMatch(/pageSize\?: number \| undefined[^]*1 to 1,000\./)
    expect(await hover('organizationName')).toContain('Display name of the organization.')
  })
})

test('[K14] every method, and every field of an input or an answer, has a doc comment', () => {
  const folder = join(import.meta.dirname, '../src/operations')
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
  const isMember = (line: string) => /^ +(readonly )?('[\w.]+'|\w+)(\??: |\()/.test(line)
  const members = lines.flatMap((line, index) => (isMember(line) ? [{ line, before: lines[index - 1] }] : []))
  expect(members.length).toBeGreaterThan(400)
  expect(members.filter(({ before }) => !before?.trimEnd().endsWith('*/'))).toEqual([])
})

describe('exported names', () => {
  /** The names of everything that a module exports, including types. */
  async function exportsOf(module: string): Promise<string[]> {
    const file = `packages/client/test/names-${module.replace(/\W/g, '-')}.ts`
    const text = `import { | } from '${module}'\n`
    languageServer.open(file, text.replace('|', ''))
    return (await languageServer.completions(file, text)).filter((name) => name !== 'type')
  }

  test.each(['react', 'yjs', '@tiptap/core', '@tiptap/starter-kit', 'codemirror'])(
    '[K12] the client exports no name that %s exports too',
    async (module) => {
      const entries = ['../src/index.ts', '../src/prosemirror.ts', '../src/react.ts']
      const own = (await Promise.all(entries.map(exportsOf))).flat()
      expect(own).toEqual(
        expect.arrayContaining(['createClient', 'LiveEditor', 'highlightThreads', 'useLiveEditor']),
      )
      const theirs = await exportsOf(module)
      expect(theirs).not.toEqual([])
      expect(own.filter((name) => theirs.includes(name))).toEqual([])
    },
  )
})
