import { afterAll, describe, expect, test } from 'vitest'
import { runMatrix } from '../../support/access/matrix.ts'
import { type AccessType, expectedRole, type Grant } from '../../support/access/oracle.ts'
import { type Row, rowsOf } from '../../support/access/rows.ts'
import { type Scene, scenes } from '../../support/access/scenes.ts'
import { anyStore, useServer } from '../../support/harness.ts'

/** One row of this many is run. Each scene has another sample. */
const oneOf = 13

let cells = 0
afterAll(() => {
  // oxlint-disable-next-line no-console -- the count is part of the result
  console.log(`${cells} cells of the access matrix`)
})

describe('[25.9] the oracle of the access matrix gives the listed result in the worked cases', () => {
  const levels = ['document d', 'folder f', 'organization o']
  const [d, f, o] = levels as [string, string, string]
  const editor = (level: string): Grant => ({ level, role: 'editor' })
  const viewer = (level: string): Grant => ({ level, role: 'viewer' })

  const cases: [AccessType, string | undefined, Grant | undefined, Grant | undefined, string][] = [
    ['public', undefined, undefined, undefined, 'editor'],
    ['public', undefined, viewer(o), undefined, 'viewer'],
    ['organizationPrivate', f, undefined, undefined, 'denied'],
    ['organizationPrivate', f, editor(o), viewer(d), 'viewer'],
    ['organizationPrivate', d, editor(d), undefined, 'editor'],
    ['restricted', d, editor(o), editor(f), 'denied'],
    ['restricted', f, editor(o), undefined, 'denied'],
    ['restricted', f, viewer(f), undefined, 'viewer'],
    ['restricted', undefined, editor(o), undefined, 'denied'],
    ['restricted', d, { ...editor(d), expiresAt: 100 }, undefined, 'denied'],
  ]
  const named = (grant: Grant | undefined) =>
    grant ? `${grant.expiresAt === undefined ? '' : 'expired '}${grant.role} of ${grant.level}` : 'none'

  const rows = cases.map(([type, level, stored, token, expected]) => {
    const input = { level, stored, token }
    return [type, level ?? 'default', named(stored), named(token), expected, input] as const
  })

  test.each(rows)(
    '[25.9] the oracle, for a document that is %s by %s (stored grant: %s, token grant: %s), gives %s',
    (type, _definedBy, _stored, _token, expected, { level, stored, token }) => {
      const types = new Map(level === undefined ? [] : [[level, type]])
      expect(expectedRole({ levels, types, defaultType: type }, { stored, token }, 100)).toBe(expected)
    },
  )
})

describe('access to live documents', () => {
  test('[25.4] the samples of all scenes together have each grant, and each role of each resource in each location', () => {
    const all = rowsOf({ scene: scenes[0] as Scene, turn: 0 })
    const samples = scenes.flatMap((scene, turn) => rowsOf({ scene, turn, oneOf }))
    const kinds: ((row: Row) => unknown)[] = [
      ({ user: { resource, role, expiry } }) => [resource, role, expiry],
      ({ user: { resource, role }, location }) => [resource, role, location],
    ]
    for (const kind of kinds) {
      const [wanted, found] = [all, samples].map(
        (rows) => new Set(rows.map((row) => JSON.stringify(kind(row)))),
      )
      expect(found).toEqual(wanted)
    }
  })

  const server = useServer(anyStore, { isOwn: true })
  const postgres = useServer('postgres', { isOwn: true })

  // `access.long.test.ts` runs all rows.
  test.each(
    scenes.map((scene, turn): [AccessType, Scene['definedBy'], number] => [
      scene.type,
      scene.definedBy,
      turn,
    ]),
  )(
    '[25.4] [R3] [R5] with the access type %s set for the %s, each grant gives the expected access to a sample of the documents; grant sources and dialects rotate',
    { timeout: 300_000 },
    async (type, definedBy, turn) => {
      const tally = await runMatrix(server, { scene: { type, definedBy }, turn, oneOf })
      cells += tally.cells
      expect(tally.wrong).toEqual([])
    },
  )

  test(
    '[25.4] a sample of the access cases has the expected results on PostgreSQL',
    { timeout: 300_000 },
    async () => {
      const scene: Scene = { type: 'restricted', definedBy: 'folder' }
      const tally = await runMatrix(postgres, { scene, turn: 5, oneOf })
      cells += tally.cells
      expect(tally.wrong).toEqual([])
    },
  )
})
