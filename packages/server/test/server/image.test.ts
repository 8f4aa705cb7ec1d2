import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Locked {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  link?: boolean
  resolved?: string
}

/** Returns the names of all packages that the server has in production, as the lock file resolves them. */
function productionPackages(): Set<string> {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
  const found = new Set<string>()
  const visited = new Set<string>()
  const locate = (from: string, name: string): string | undefined => {
    for (let folder = from; ; folder = folder.replace(/(^|\/)[^/]*$/, '')) {
      const path = [...(folder === '' ? [] : [folder]), 'node_modules', name].join('/')
      if (packages[path]) return path
      if (folder === '') return undefined
    }
  }
  const visit = (path: string) => {
    const locked = packages[path]
    if (!locked || visited.has(path)) return
    visited.add(path)
    for (const name of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })) {
      const location = locate(path, name)
      if (location === undefined) continue
      found.add(name)
      visit(packages[location]?.link ? (packages[location].resolved as string) : location)
    }
  }
  visit('packages/server')
  return found
}

describe('[M2] the image', () => {
  test('[M2] the production packages of the server include no development package, client or editor', () => {
    const packages = productionPackages()
    const unwanted =
      /^(vite|vitest|rolldown|esbuild|tsx|typescript|oxlint|oxfmt|playwright-core|fast-check|react|react-dom|codemirror|y-websocket|y-protocols|@scalar\/.*|@redocly\/.*|@tiptap\/.*|@hocuspocus\/.*|@types\/.*|@plenum\/(client|examples))$/
    expect([...packages].filter((name) => unwanted.test(name))).toEqual([])
    expect([...packages]).toEqual(expect.arrayContaining(['fastify', 'pg', 'avvio']))
  })

  test('[M2] the last stage of the Dockerfile copies the production packages and the built server, nothing else', () => {
    const lastStage =
      read('Dockerfile')
        .split(/^FROM /m)
        .at(-1) ?? ''
    expect(lastStage.match(/^(COPY|ADD) .*/gm)).toEqual([
      'COPY --from=runtime /app/node_modules node_modules',
      'COPY --from=runtime /app/packages/server packages/server',
      'COPY --from=build /app/packages/server/dist packages/server/dist',
    ])
  })

  test('[M2] [D6] the built server imports Node and exactly the packages that it declares, and has the script of /docs beside it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plenum-build-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    execFileSync(process.execPath, ['scripts/build.mjs', '--server', folder], { cwd: root })
    const built = readdirSync(folder)
      .filter((file) => file.endsWith('.js') && file !== 'reference.js')
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n')
    const imports = /^import .*?["']([^"'\n]+)["'];?$|\bimport\(["']([^"'\n]+)["']\)/gm
    const imported = [...built.matchAll(imports)]
      .map(([, always, later = '']) => always ?? later)
      .filter((name) => !name.startsWith('node:') && !name.startsWith('.'))
      // Never imported by the built server: one runs sources, and rate limits do not use Valkey.
      .filter((name) => !name.startsWith('tsx/') && name !== '@valkey/valkey-glide')
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    const { dependencies } = JSON.parse(read('packages/server/package.json')) as { dependencies: object }
    expect([...new Set(imported)].sort()).toEqual(Object.keys(dependencies).sort())
    expect(existsSync(join(folder, 'reference.js'))).toBe(true)
  })

  test('[M2] compose.yaml starts Plenum and its database, nothing else without a profile', () => {
    const services = /^services:\n((?: .*\n|#.*\n)+)/m.exec(read('compose.yaml'))?.[1] ?? ''
    const [, ...parts] = services.split(/^ {2}([\w-]+):$/m)
    const named = parts.flatMap((name, at) => (at % 2 === 0 ? { name, text: parts[at + 1] ?? '' } : []))
    const started = (profile?: string) =>
      named
        .filter(({ text }) => !text.includes('profiles:') || text.includes(`profiles: [${profile}]`))
        .map(({ name }) => name)
    expect(started()).toEqual(['plenum', 'postgres'])
    expect(started('servers')).toEqual(['plenum', 'plenum-2', 'balancer', 'redis', 'postgres'])
  })
})
