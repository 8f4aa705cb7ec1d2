import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { knownDoc } from '../../../test/support/updates/known-doc.ts'
import {
  abc,
  any,
  codeOf,
  disagreement,
  docOf,
  validate,
  emptyStateVector,
  stateOf,
  struct,
  text,
  type,
  update,
} from '../../../test/support/updates/scenes.ts'
import { validateUpdate } from './validate-update.ts'

describe('[V1] the references of an update', () => {
  test.each<[string, string, Uint8Array]>([
    ['gap', 'a clock that is ahead', update({ structs: [{ client: 5, clock: 4, structs: [{ gc: 1 }] }] })],
    ['gap', 'structs left out', struct({ skip: 4 }, { gc: 1 })],
    ['gap', 'an unknown left neighbour', struct({ origin: [9, 0], content: text('defg') })],
    ['gap', 'an unknown right neighbour', struct({ right: [9, 0], content: text('defg') })],
    ['gap', 'an unknown parent', struct({ parent: [9, 0], content: text('defg') })],
    [
      'gap',
      'a neighbour after the end of its client',
      update({
        structs: [
          { client: 8, clock: 0, structs: [{ gc: 2 }] },
          { client: 7, clock: 0, structs: [{ origin: [8, 2], content: text('a') }] },
        ],
      }),
    ],
    ['gap', 'a known struct with an unknown neighbour', struct({ right: [9, 0], content: text('ab') })],
    ['gap', 'an item that is known in part', struct({ content: text('abcd') })],
    [
      'gap',
      'two structs that refer to each other',
      update({
        structs: [
          { client: 8, clock: 0, structs: [{ origin: [7, 0], content: text('a') }] },
          { client: 7, clock: 0, structs: [{ origin: [8, 0], content: text('a') }] },
        ],
      }),
    ],
    [
      'gap',
      'a circle through earlier structs of the clients',
      update({
        structs: [
          { client: 8, clock: 0, structs: [{ right: [6, 0], content: text('a') }, { gc: 1 }] },
          { client: 7, clock: 0, structs: [{ origin: [8, 1], content: text('a') }, { gc: 1 }] },
          { client: 6, clock: 0, structs: [{ parent: [7, 1], content: text('a') }] },
        ],
      }),
    ],
    [
      'future_delete',
      'a delete beyond the known clock',
      update({ deletes: [{ client: 5, ranges: [[2, 2]] }] }),
    ],
    [
      'future_delete',
      'a delete of an unknown client',
      update({ deletes: [{ client: 9, ranges: [[0, 1]] }] }),
    ],
    [
      'future_delete',
      '15 bytes that would delete all that client 4294967295 writes',
      update({ deletes: [{ client: 2 ** 32 - 1, ranges: [[0, 2 ** 40]] }] }),
    ],
  ])('[V1] an update is refused as %s if it has %s', (code, _, bytes) => {
    expect(codeOf(bytes, stateOf(docOf(abc)))).toBe(code)
  })

  test('[V1] structs of several clients may refer to each other in any order without a circle', () => {
    const bytes = update({
      structs: [
        {
          client: 8,
          clock: 0,
          structs: [
            { parent: [7, 0], content: text('aa') },
            { origin: [7, 2], content: type(1) },
          ],
        },
        { client: 7, clock: 0, structs: [{ content: type(0) }, { origin: [8, 0], content: text('bb') }] },
        { client: 6, clock: 0, structs: [{ right: [8, 2], content: text('c') }] },
      ],
    })
    const verdict = validateUpdate(bytes, emptyStateVector)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    expect(disagreement(new Y.Doc(), bytes, verdict.value)).toBeUndefined()
  })

  test('[V1] an update with a partly known item is refused, because Yjs throws if the known part was garbage-collected', () => {
    const doc = docOf(struct({ gc: 1 }))
    expect(validate(doc, abc)).toMatchObject({ fault: { code: 'gap' } })
    expect(() => Y.applyUpdate(doc, abc)).toThrow(TypeError)
    expect(codeOf(struct({ gc: 4 }), stateOf(docOf(abc)))).toBe('accepted')
  })

  test('[V1] an update with a value of several parts for a known key is refused, because Yjs throws when the map is deleted', () => {
    const map = struct({ content: type(1) }, { parent: [5, 0], key: 'k', content: any(1) })
    const longer = update({
      structs: [{ client: 5, clock: 2, structs: [{ origin: [5, 1], content: text('xy') }] }],
    })
    expect(validate(docOf(map), longer)).toMatchObject({ fault: { code: 'malformed' } })
    const doc = docOf(map, longer, update({ deletes: [{ client: 5, ranges: [[3, 1]] }] }))
    const last = update({ deletes: [{ client: 5, ranges: [[0, 1]] }] })
    expect(() => Y.applyUpdate(doc, last)).toThrow('Unexpected case')
  })

  test('[V1] new structs are accepted only with client ids that the sender may use', () => {
    const mayWrite = (client: number) => client === 9
    const known = stateOf(docOf(abc))
    const forged = update({ structs: [{ client: 5, clock: 3, structs: [{ gc: 1_000 }] }] })
    expect(codeOf(forged, known, { mayWrite })).toBe('foreign_client')
    expect(codeOf(abc, known, { mayWrite })).toBe('accepted')
    const own = update({
      structs: [{ client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d') }] }],
    })
    expect(codeOf(own, known, { mayWrite })).toBe('accepted')
  })
})

test('[V1] the test helper knownDoc reads places and deletes from a Yjs document', () => {
  const doc = docOf(
    struct(
      { content: type(1) },
      { parent: [5, 0], key: 'k', content: type(0) },
      { parent: [5, 1], content: text('abc') },
      { gc: 1 },
    ),
  )
  const { placeOf, isDeleted } = knownDoc(doc)
  expect([0, 1, 3, 5].map((clock) => placeOf(5, clock))).toEqual([
    { depth: 1, isEntry: false },
    { depth: 2, isEntry: true },
    { depth: 3, isEntry: false },
    undefined,
  ])
  expect(placeOf(6, 0)).toBeUndefined()
  Y.applyUpdate(doc, update({ deletes: [{ client: 5, ranges: [[3, 1]] }] }))
  expect([isDeleted(5, 3, 1), isDeleted(5, 2, 2), isDeleted(5, 3, 2), isDeleted(6, 0, 1)]).toEqual([
    true,
    false,
    false,
    false,
  ])
})
