import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Which folder may import which. A folder may also import its own files. This table is the shortest description of the
 * design; `ARCHITECTURE.md` explains it.
 */
const layers: Record<string, { ours: readonly string[]; theirs: readonly string[] }> = {
  protocol: { ours: [], theirs: ['typebox'] },
  client: {
    ours: ['protocol/errors', 'protocol/realtime'],
    theirs: [
      'yjs',
      'lib0',
      'y-protocols',
      'react',
      'prosemirror-model',
      'prosemirror-state',
      'prosemirror-view',
    ],
  },

  // Settings, messages within the process, and code that knows nothing about documents and users.
  'server/config.ts': { ours: ['server/platform', 'server/store'], theirs: [] },
  'server/bus.ts': { ours: ['protocol', 'server/platform'], theirs: [] },
  'server/platform': {
    ours: ['protocol'],
    theirs: [
      'ipaddr.js',
      'pino',
      'prom-client',
      'rate-limiter-flexible',
      'sanitize-html',
      'secure-json-parse',
      'typebox',
    ],
  },

  'server/platform/server-link': { ours: ['server/platform'], theirs: ['ioredis', 'pg'] },

  // The other servers that share the database.
  'server/peers': {
    ours: ['server/access/ids.ts', 'server/bus.ts', 'server/platform', 'server/store'],
    theirs: ['lib0'],
  },

  // Yjs documents: pure functions, and the threads that build documents.
  'server/crdt/content': { ours: [], theirs: ['yjs', '@rgrove/parse-xml'] },
  'server/crdt/updates': { ours: ['server/crdt/content', 'server/platform'], theirs: ['lib0'] },
  'server/crdt': { ours: ['server/platform'], theirs: ['yjs', 'lru-cache'] },

  // The database.
  'server/store/schema': { ours: [], theirs: [] },
  'server/store/migrations': { ours: ['protocol', 'server/store/engine'], theirs: ['kysely'] },
  'server/store/engine': {
    ours: [
      'protocol',
      'server/platform',
      'server/start/version.ts',
      'server/store/migrations',
      'server/store/schema',
    ],
    theirs: ['kysely', 'pg', '@photostructure/sqlite'],
  },
  'server/store': { ours: ['protocol', 'server/platform'], theirs: ['kysely'] },

  // Permissions, tokens, credentials and allowed domains.
  'server/access': {
    ours: ['protocol', 'server/platform', 'server/store'],
    theirs: ['jose', 'nanoid', 'ipaddr.js', 'disposable-email-domains-js', 'lru-cache'],
  },

  // Deletions that are too large for one transaction.
  'server/deletions': {
    ours: ['protocol', 'server/access/ids.ts', 'server/platform', 'server/store'],
    theirs: [],
  },

  // One call of an operation, over HTTP or on a socket.
  'server/calls': {
    ours: [
      'protocol',
      'server/access',
      'server/bus.ts',
      'server/config.ts',
      'server/crdt',
      'server/deletions',
      'server/peers',
      'server/platform',
      'server/store',
    ],
    theirs: ['typebox'],
  },
  // What happens when an event is recorded: each consumer names the events that it wants.
  'server/events': { ours: ['protocol', 'server/access', 'server/platform', 'server/store'], theirs: [] },
  // Changes of comment threads, by operations and jobs.
  'server/threads': {
    ours: [
      'protocol',
      'server/access',
      'server/bus.ts',
      'server/events',
      'server/peers',
      'server/platform',
      'server/store',
    ],
    theirs: [],
  },
  // Mails and webhooks: what they contain, who gets them, and one attempt to send one.
  'server/deliveries': {
    ours: [
      'protocol',
      'server/access',
      'server/crdt',
      'server/events',
      'server/platform',
      'server/store',
      'server/threads',
    ],
    theirs: ['nodemailer'],
  },
  'server/operations': {
    ours: [
      'protocol',
      'server/access',
      'server/calls',
      'server/crdt',
      'server/deliveries',
      'server/events',
      'server/platform',
      'server/store',
      'server/threads',
    ],
    theirs: [],
  },
  'server/jobs': {
    ours: [
      'server/access',
      'server/bus.ts',
      'server/deliveries',
      'server/events',
      'server/peers',
      'server/platform',
      'server/store',
      'server/threads',
    ],
    theirs: [],
  },
  'server/http': {
    ours: [
      'protocol',
      'server/access',
      'server/calls',
      'server/config.ts',
      'server/deliveries',
      'server/operations/shared',
      'server/platform',
      'server/start/version.ts',
      'server/store',
    ],
    theirs: ['fastify', 'typebox'],
  },

  // Open sockets. `realtimeOrder` says which folder of realtime may import which.
  'server/realtime': {
    ours: [
      'protocol',
      'server/access',
      'server/bus.ts',
      'server/config.ts',
      'server/crdt',
      'server/deletions',
      'server/peers',
      'server/platform',
      'server/store',
    ],
    theirs: ['yjs', 'lib0', 'ws', 'typebox'],
  },

  // Copies of rows from one database to another.
  'server/transfer': { ours: ['server/store'], theirs: ['kysely'] },

  // The files that compose the parts.
  'server/start': { ours: ['server/config.ts'], theirs: [] },
  'server/worker.ts': { ours: ['server/crdt', 'server/realtime/messages'], theirs: [] },
  'server/server.ts': { ours: ['protocol', 'server'], theirs: ['fastify'] },
  'server/run-server.ts': { ours: ['server'], theirs: [] },

  // The program: one file for each command, which loads what the command needs only when it runs.
  'server/commands': {
    ours: ['protocol', 'server'],
    theirs: ['commander', 'kysely', '@photostructure/sqlite'],
  },
  'server/main.ts': { ours: ['server/commands', 'server/start/version.ts'], theirs: ['commander'] },
}

/** The folders of `realtime`. Each may import only the folders before it; files directly in `realtime` may import all. */
const realtimeOrder = [
  'sockets',
  'authorization',
  'messages',
  'presence',
  'writes',
  'rooms',
  'live-states',
  'inboxes',
  'lists',
  'documents',
  'editors',
  'dialects',
]

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

/** The possible locations of a path in a page: relative to the root, or to a folder that the page describes. */
const placesOf = (path: string) => [
  path,
  `packages/server/${path}`,
  `packages/server/src/${path}`,
  `packages/server/src/realtime/${path}`,
]

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

  test('[A1] the table of layers lists no npm package that its layer does not import', () => {
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

  test('[A1] within realtime, files import only from their own folder and the folders before it in realtimeOrder', () => {
    const rank = (path: string) =>
      realtimeOrder.indexOf(/^server\/realtime\/([^/]+)\//.exec(path)?.[1] ?? 'none')
    const inRealtime = files.filter((file) => rank(file) >= 0)
    expect(inRealtime.length).toBeGreaterThan(50)
    const backwards = inRealtime
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith('server/realtime/') && (rank(to) < 0 || rank(to) > rank(from)))
    expect(backwards.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('[A1] no files import each other in a circle, types included', () => {
    const known = new Set(files)
    const targets = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .map(({ to }) => to)
          .filter((to) => known.has(to)),
      ]),
    )
    // A file without imports is in no circle, and neither is a file that imports only such files.
    let remaining = files
    for (let before = -1; remaining.length !== before;) {
      before = remaining.length
      const left = new Set(remaining)
      remaining = remaining.filter((file) => targets.get(file)?.some((to) => left.has(to)))
    }
    expect(remaining).toEqual([])
  })

  test('[A1] every file and folder that ARCHITECTURE.md and CONTRIBUTING.md name exists', () => {
    const root = resolve(packages, '..')
    const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8')
      const named = [...text.matchAll(/`((?:[\w.-]+\/)*[\w-]+\.(?:ts|mjs|md|json))`|`((?:[\w.-]+\/)+)`/g)]
      return named
        .map(([, file, folder]) => file ?? folder ?? '')
        .filter((path) => !placesOf(path).some((place) => existsSync(join(root, place))))
        .map((path) => `${page}: ${path}`)
    })
    expect(missing).toEqual([])
  })

  test('[A1] only settings.ts of the server and warnings.ts of the client read process.env', () => {
    const readers = files.filter((file) => {
      const [name = '', ...rest] = file.split('/')
      return readFileSync(join(packages, name, 'src', ...rest), 'utf8').includes('process.env')
    })
    // warnings.ts checks whether the client was built for production.
    expect(readers).toEqual(['client/live/warnings.ts', 'server/start/settings.ts'])
  })

  test('[A1] no source file is longer than 400 lines, except derived ones', () => {
    const long = files.filter((file) => {
      const [name = '', ...rest] = file.split('/')
      const source = readFileSync(join(packages, name, 'src', ...rest), 'utf8').trimEnd()
      return !source.startsWith('// Derived from') && source.split('\n').length > 400
    })
    expect(long).toEqual([])
  })
})
