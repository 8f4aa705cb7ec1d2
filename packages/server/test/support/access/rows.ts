import type { Resource } from './oracle.ts'
import type { ProbeResult } from './probe.ts'
import { type DocumentId, documentIds, granted, type Scene, type Source, sources } from './scenes.ts'
import type { Role } from '../clients/raw-client.ts'
import { type Dialect, dialects } from '../clients/raw-clients.ts'

/** A document of the API key with the grants, of another key of the same workspace, or of a key of another workspace. */
export interface Location {
  key: 'own' | 'sibling' | 'foreign'
  organizationId: string
  documentId: DocumentId
}

/** Documents in, below, beside and above the granted resource, and the same ids where nothing is granted. */
export const locations: readonly Location[] = [
  ...documentIds.map((documentId): Location => ({
    key: 'own',
    organizationId: 'o1',
    documentId,
  })),
  { key: 'own', organizationId: 'o2', documentId: 'deep' },
  { key: 'sibling', organizationId: 'o1', documentId: 'deep' },
  { key: 'foreign', organizationId: 'o1', documentId: 'deep' },
]
const resources = Object.keys(granted) as Resource[]
const roles = ['viewer', 'editor', undefined] as const
const expiries = ['none', 'future', 'past', 'passing'] as const

export interface User {
  userId: string
  source: Source
  resource: Resource
  role: Role | undefined
  expiry: (typeof expiries)[number]
  dialect: Dialect
}

export interface Row {
  user: User
  location: Location
  editorId: string
}

export interface MatrixOptions {
  scene: Scene
  /** The index of the first source of grants and the first dialect; both rotate. */
  turn: number
  /** Runs only every nth row, from another one in each turn. */
  oneOf?: number
}

/** Pairs every grant with every location. Each turn adds another pair of source and dialect, of which there are 20. */
export function rowsOf({ turn, oneOf = 1 }: MatrixOptions): Row[] {
  const grants = resources.flatMap((resource) =>
    roles.flatMap((role) => expiries.map((expiry) => ({ resource, role, expiry }))),
  )
  const rows = grants.flatMap((grant, row) =>
    locations.map((location, column) => {
      const pair = turn + row + (column % 3)
      const source = sources[pair % sources.length] as Source
      const dialect = dialects[pair % dialects.length] as Dialect
      const userId = [grant.resource, grant.role ?? 'omitted', grant.expiry, source, dialect].join('.')
      return { user: { ...grant, userId: userId.replaceAll(' ', '-'), source, dialect }, location }
    }),
  )
  return rows
    .map((row, index) => ({ ...row, editorId: `e${index}` }))
    .filter((_, index) => index % oneOf === turn % oneOf)
}

/** Counts the checks and collects the failed ones. */
export class Tally {
  cells = 0
  readonly wrong: string[] = []
  readonly #title: string

  constructor(title: string) {
    this.#title = title
  }

  compare(row: Row, attempt: number, found: ProbeResult, expected: ProbeResult): void {
    for (const action of Object.keys(expected) as (keyof ProbeResult)[]) {
      this.check(row, `${attempt}: ${action}`, found[action], expected[action])
    }
  }

  check({ user, location, editorId }: Row, what: string, found: unknown, expected: unknown): void {
    this.cells++
    const [actual, wanted] = [JSON.stringify(found), JSON.stringify(expected)]
    if (actual === wanted) return
    const where = `${location.key} ${location.organizationId}/${location.documentId}/${editorId}`
    this.wrong.push(`${this.#title}: ${user.userId} in ${where}: ${what} is ${actual}, not ${wanted}`)
  }
}
