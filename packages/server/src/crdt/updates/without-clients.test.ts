import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { docOf, raw, stateOf, struct, text, update } from '../../../test/support/updates/scenes.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { realUpdates } from '../../../test/support/updates/sessions.ts'
import { validateUpdate } from './validate-update.ts'
import { withoutClients } from './without-clients.ts'

const known = new Map([
  [5, 3],
  [6, 10],
])
const isForeign = (client: number) => client === 6

describe('[V3] removing the structs of foreign clients from an update', () => {
  test('[V3] the new structs of other clients stay in the update, and so do the deletes of items that are known or stay; the other deletes are returned separately', () => {
    const bytes = update({
      structs: [
        { client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d😀') }] },
        { client: 6, clock: 8, structs: [{ gc: 2 }, { content: text('forged') }] },
        { client: 5, clock: 1, structs: [{ gc: 2 }, { origin: [5, 2], content: text('e') }] },
      ],
      deletes: [
        { client: 9, ranges: [[1, 1]] },
        {
          client: 6,
          ranges: [
            [0, 2],
            [9, 3],
            [14, 1],
          ],
        },
        { client: 8, ranges: [[0, 1]] },
      ],
    })
    const expected = update({
      structs: [
        { client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d😀') }] },
        { client: 5, clock: 3, structs: [{ origin: [5, 2], content: text('e') }] },
      ],
      deletes: [
        { client: 9, ranges: [[1, 1]] },
        {
          client: 6,
          ranges: [
            [0, 2],
            [9, 1],
          ],
        },
      ],
    })
    const future = update({
      deletes: [
        {
          client: 6,
          ranges: [
            [10, 2],
            [14, 1],
          ],
        },
        { client: 8, ranges: [[0, 1]] },
      ],
    })
    expect(withoutClients(bytes, isForeign, known)).toEqual({
      update: expected,
      future: { update: future, missing: { client: 6, clock: 12 }, clients: [6, 8] },
    })
    expect(validateUpdate(bytes, known, { mayWrite: (id) => id !== 6 })).toMatchObject({ ok: false })
    expect(validateUpdate(expected, known, { mayWrite: (id) => id !== 6 })).toMatchObject({ ok: true })
  })

  test.each<[string, Uint8Array]>([
    [
      'only structs of foreign clients',
      update({ structs: [{ client: 6, clock: 10, structs: [{ gc: 1 }] }] }),
    ],
    ['only known structs', struct({ content: text('ab') })],
    ['neither structs nor deletes', update({})],
    ['an unknown kind of content', struct({ content: raw(11, [1]) })],
    ['fewer bytes than it declares', struct({ content: text('abcdef') }).subarray(0, 9)],
  ])('[V3] nothing is left of an update that has %s', (_, bytes) => {
    expect(withoutClients(bytes, isForeign, known)).toBeUndefined()
  })

  test('[V3] gaps and partly known items stay in the update, so that the validation refuses it', () => {
    const gap = update({ structs: [{ client: 5, clock: 7, structs: [{ gc: 1 }] }] })
    const inPart = struct({ content: text('ab') }, { content: text('cd') })
    for (const bytes of [gap, inPart]) {
      const result = withoutClients(bytes, isForeign, known)?.update as Uint8Array
      expect(validateUpdate(result, known)).toMatchObject({ fault: { code: 'gap' } })
    }
  })

  test('[V3] the structs that stay are those of the diff that Yjs computes', () => {
    const random = createRandom()
    const structsOf = (bytes: Uint8Array) =>
      Y.decodeUpdate(bytes).structs.map(({ id, length }) => [id, length])
    let reduced = 0
    for (const { base, bytes } of realUpdates(20_261_004, 300)) {
      const clocks = stateOf(docOf(base))
      const ends = Y.parseUpdateMeta(bytes).to
      const foreign = new Map([...ends].filter(() => random(2) === 0))
      const result = withoutClients(bytes, (client) => foreign.has(client), clocks)?.update
      const expected = Y.diffUpdate(bytes, Y.encodeStateVector(new Map([...clocks, ...foreign])))
      expect(structsOf(result ?? update({}))).toEqual(structsOf(expected))
      if (result === undefined || foreign.size === 0) continue
      reduced++
      const verdict = validateUpdate(result, clocks)
      if (!verdict.ok) expect(verdict.fault.code).toBe('gap')
    }
    expect(reduced).toBeGreaterThan(20)
  })
})
