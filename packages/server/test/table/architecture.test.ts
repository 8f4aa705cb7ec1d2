import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Who may import whom. A folder may also import its own files. Reading this table is the shortest way to know the design;
 * `ARCHITECTURE.md` explains it.
 */
const layers: Record<string, { ours: readonly string[]; theirs: readonly string[] }> = {
  protocol: { ours: [], theirs: ['typebox'] },
  client: {
    ours: ['protocol/errors', 'protocol/realtime'],
    theirs: ['yjs', 'lib0', 'y-protocols', 'react'],
  },

  // What knows nothing of documents and users.
  'server/config.ts': { ours: ['server/platform', 'server/store'], theirs: [] },
  'server/bus.ts': { ours: ['protocol', 'server/platform'], theirs: [] },
  'server/platform': {
    ours: ['protocol'],
    theirs: ['pino', 'prom-client', 'rate-limiter-flexible', 'secure-json-parse'],
  },

  // Yjs documents: pure, and the threads in which they are built.
  'server/crdt/content': { ours: [], theirs: ['yjs', '@rgrove/parse-xml'] },
  'server/crdt/updates': { ours: ['server/crdt/content', 'server/platform'], theirs: ['yjs', 'lib0'] },
  'server/crdt': { ours: ['server/platform'], theirs: ['yjs'] },

  // The database.
  'server/store/schema': { ours: [], theirs: [] },
  'server/store/migrations': { ours: ['protocol', 'server/store/engine'], theirs: ['kysely'] },
  'server/store/engine': {
    ours: ['protocol', 'server/platform', 'server/store/migrations', 'server/store/schema'],
    theirs: ['kysely', 'pg', '@photostructure/sqlite'],
  },
  'server/store': { ours: ['protocol', 'server/platform'], theirs: ['kysely'] },

  // Who may do what.
  'server/access': {
    ours: ['protocol', 'server/platform', 'server/store'],
    theirs: ['jose', 'nanoid', 'ipaddr.js', 'disposable-email-domains-js', 'lru-cache', 'typebox'],
  },

  // One call of an operation, over HTTP or on a socket.
  'server/calls': {
    ours: ['protocol', 'server/access', 'server/config.ts', 'server/crdt', 'server/platform', 'server/store'],
    theirs: ['typebox'],
  },
  'server/operations': {
    ours: ['protocol', 'server/access', 'server/calls', 'server/crdt', 'server/platform', 'server/store'],
    theirs: [],
  },
  'server/jobs': { ours: ['server/bus.ts', 'server/platform', 'server/store'], theirs: [] },
  'server/http': {
    ours: [
      'protocol',
      'server/access',
      'server/calls',
      'server/config.ts',
      'server/operations/shared',
      'server/platform',
      'server/start/version.ts',
      'server/store',
    ],
    theirs: ['fastify', 'typebox'],
  },

  // Open sockets: each folder may import those above it.
  'server/realtime': {
    ours: [
      'protocol',
      'server/access',
      'server/bus.ts',
      'server/config.ts',
      'server/crdt',
      'server/platform',
      'server/store',
    ],
    theirs: ['yjs', 'lib0', 'ws', 'typebox'],
  },

  // What puts the parts together.
  'server/start': { ours: ['server/config.ts'], theirs: [] },
  'server/worker.ts': { ours: ['server/crdt', 'server/realtime/messages'], theirs: [] },
  'server/server.ts': { ours: ['protocol', 'server'], theirs: ['fastify'] },
  'server/main.ts': { ours: ['server'], theirs: [] },
}

const packages = resolve(import.meta.dirname, '../../..')

interface Import {
  from: string
  /** A path below the packages such as `server/store/db.ts`, or the name of a package. */
  to: string
}

function sourcesOf(name: string): string[] {
  return readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith('.test.ts'))
    .map((file) => `${name}/${file}`)
}

function importsOf(file: string): Import[] {
  const [name = '', ...rest] = file.split('/')
  const path = join(packages, name, 'src', ...rest)
  const text = readFileSync(path, 'utf8')
  const found = text.matchAll(/^(?:import|export)\s+(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)
  return [...found]
    .map(([, to = '']) => {
      if (!to.startsWith('.')) return { from: file, to }
      const [owner = '', , ...inside] = relative(packages, resolve(path, '..', to)).split('/')
      return { from: file, to: [owner, ...inside].join('/') }
    })
    .filter(({ to }) => !to.startsWith('node:'))
}

const layerOf = (path: string) =>
  Object.keys(layers)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0]

function allowed({ from, to }: Import): boolean {
  const own = layerOf(from)
  if (own === undefined) return false
  const { ours, theirs } = layers[own] as (typeof layers)[string]
  const target = to.startsWith('@plenum/') ? to.slice('@plenum/'.length) : to
  const local = to.startsWith('@plenum/') || /\.(ts|mjs)$/.test(to)
  if (!local) return theirs.some((name) => target === name || target.startsWith(`${name}/`))
  if (layerOf(target) === own || target.startsWith(`${own}/`)) return true
  return ours.some((layer) => target === layer || target.startsWith(`${layer}/`))
}

describe('[A1] architecture', () => {
  const files = ['protocol', 'client', 'server'].flatMap(sourcesOf)

  test('[A1] every source file belongs to a layer', () => {
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([])
    expect(files.length).toBeGreaterThan(50)
  })

  test('[A1] imports follow the table of layers', () => {
    const broken = files.flatMap(importsOf).filter((one) => !allowed(one))
    expect(broken.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('[A1] the table is not wider than the code', () => {
    const used = new Set(
      files.flatMap(importsOf).flatMap(({ from, to }) => {
        const own = layerOf(from)
        const { theirs } = layers[own ?? ''] ?? { theirs: [] }
        return theirs
          .filter((name) => to === name || to.startsWith(`${name}/`))
          .map((name) => `${own} → ${name}`)
      }),
    )
    const listed = Object.entries(layers).flatMap(([layer, { theirs }]) =>
      theirs.map((name) => `${layer} → ${name}`),
    )
    expect(listed.filter((entry) => !used.has(entry))).toEqual([])
  })

  test('[A1] only the configuration reads the environment', () => {
    const readers = files.filter((file) => {
      const [name = '', ...rest] = file.split('/')
      return readFileSync(join(packages, name, 'src', ...rest), 'utf8').includes('process.env')
    })
    // The client asks whether it was built for production.
    expect(readers).toEqual(['client/live/warnings.ts', 'server/main.ts'])
  })

  test('[A1] no source file is longer than 400 lines', () => {
    const long = files.filter((file) => {
      const [name = '', ...rest] = file.split('/')
      return readFileSync(join(packages, name, 'src', ...rest), 'utf8').split('\n').length > 400
    })
    expect(long).toEqual([])
  })
})
