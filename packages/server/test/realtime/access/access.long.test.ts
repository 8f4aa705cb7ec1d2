import { describe, expect, test } from 'vitest'
import { runMatrix } from '../../support/access/matrix.ts'
import type { AccessType } from '../../support/access/oracle.ts'
import { type Scene, scenes } from '../../support/access/scenes.ts'
import { anyStore, useServer } from '../../support/harness.ts'

describe('access to live documents', () => {
  const server = useServer(anyStore, { isOwn: true })
  const postgres = useServer('postgres', { isOwn: true })

  test.each(
    scenes.map((scene, turn): [AccessType, Scene['definedBy'], number] => [
      scene.type,
      scene.definedBy,
      turn,
    ]),
  )(
    '[25.4] [R3] [R5] with the access type %s set for the %s, each grant gives the expected access to each document; grant sources and dialects rotate',
    { timeout: 300_000 },
    async (type, definedBy, turn) => {
      const tally = await runMatrix(server, { scene: { type, definedBy }, turn })
      expect(tally.wrong).toEqual([])
    },
  )

  test(
    '[25.4] a third of the access cases has the expected results on PostgreSQL',
    { timeout: 300_000 },
    async () => {
      const scene: Scene = { type: 'restricted', definedBy: 'folder' }
      const tally = await runMatrix(postgres, { scene, turn: 5, oneOf: 3 })
      expect(tally.wrong).toEqual([])
    },
  )
})
