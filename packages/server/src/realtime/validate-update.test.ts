import * as encoding from 'lib0/encoding'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  any,
  binary,
  deleted,
  disagreement,
  docOf,
  embed,
  encode,
  format,
  json,
  judge,
  raw,
  stateOf,
  struct,
  structs,
  subdoc,
  text,
  type,
  update,
  type StructScene,
} from '../../test/update-scenes.ts'
import { knownDoc } from './known-doc.ts'
import { codeInRoot } from './item-places.ts'
import { defaultBounds } from './update-bounds.ts'
import { validateUpdate, type Options } from './validate-update.ts'

const nothing = new Map<number, number>()
const repeat = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const codeOf = (bytes: Uint8Array, known: Map<number, number> = nothing, options: Options = {}) => {
  const verdict = validateUpdate(bytes, known, options)
  return verdict.ok ? 'accepted' : verdict.fault.code
}
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const nestedAny = (depth: number) => [...repeat(depth, () => [117, 1]).flat(), 126]
/** Items that each stand to the right of the one before. */
const row = (count: number, content: StructScene & { content: unknown }) =>
  repeat(count, (i): StructScene => (i === 0 ? content : { ...content, origin: [5, i - 1] }))
/** A text `abc` of client 5 in the root type `r`. */
const abc = struct({ content: text('abc') })

describe('[V1] what an update may hold', () => {
  test.each<[string, StructScene]>([
    ['collected structs', { gc: 7 }],
    ['deleted content', { content: deleted(3) }],
    ['deleted values of a key', { key: 'k', content: deleted(3) }],
    ['JSON content', { content: json('{"a":[1,-2.5e3,"\\u0041"]}', 'undefined', ' null ') }],
    ['binary content', { content: binary(1, 2, 3) }],
    ['a string', { content: text('aé😀﻿') }],
    ['an embed', { content: embed('{"image":"x"}') }],
    ['a format', { content: format('bold', 'true') }],
    ['an array', { content: type(0) }],
    ['a map', { content: type(1), key: 'k' }],
    ['a text', { content: type(2) }],
    ['an element', { content: type(3, 'p') }],
    ['a fragment', { content: type(4) }],
    ['a hook', { content: type(5, 'h') }],
    ['an XML text', { content: type(6) }],
    [
      'values',
      { content: any(1, -70_000, 0.1, 2 ** 40, 7n, 's', true, false, null, undefined, { a: [{}] }) },
    ],
    ['bytes as a value', { content: any(new Uint8Array(3)) }],
    ['a subdocument', { content: subdoc('guid', { gc: false, autoLoad: true, meta: { a: 1 } }) }],
    ['a value of 32 levels', { content: raw(8, [1, ...nestedAny(32)]) }],
    ['JSON of 32 levels', { content: json(nested(32)) }],
  ])('[V1] accepts %s as Yjs does', (_, scene) => {
    const bytes = struct(scene)
    const verdict = validateUpdate(bytes, nothing)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    expect(verdict.value).toMatchObject({ isNews: true, structs: 1, clients: [5] })
    expect(disagreement(new Y.Doc(), bytes, verdict.value)).toBeUndefined()
  })

  test('[V1] says what an update adds', () => {
    const doc = docOf(abc)
    const more = update({
      structs: [
        { client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d😀') }] },
        { client: 5, clock: 0, structs: [{ content: text('abc') }] },
      ],
      deletes: [{ client: 5, ranges: [[0, 1]] }],
    })
    expect(judge(doc, more)).toEqual({
      ok: true,
      value: {
        update: update({
          structs: [{ client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d😀') }] }],
          deletes: [{ client: 5, ranges: [[0, 1]] }],
        }),
        clocks: new Map([
          [9, 3],
          [5, 3],
        ]),
        isNews: true,
        structs: 2,
        clients: [9],
        changes: [
          { client: 9, from: 0, to: 3, places: [0, codeInRoot(false)], deletes: [] },
          { client: 5, from: 3, to: 3, places: [], deletes: [0, 1] },
        ],
      },
    })
    Y.applyUpdate(doc, more)
    expect(judge(doc, more)).toMatchObject({ value: { isNews: false, clients: [] } })
    const other = update({ deletes: [{ client: 5, ranges: [[0, 2]] }] })
    expect(judge(doc, other)).toMatchObject({ value: { isNews: true, clients: [], clocks: nothing } })
    expect(validateUpdate(update({}), nothing)).toMatchObject({ value: { isNews: false, structs: 0 } })
  })

  test.each<[string, Uint8Array]>([
    ['nothing at all', new Uint8Array()],
    ['bytes after the end', Uint8Array.of(...abc, 0)],
    ['an empty string', struct({ content: text('') })],
    ['no values', struct({ content: any() })],
    ['no JSON', struct({ content: json() })],
    ['nothing deleted', struct({ content: deleted(0) })],
    ['nothing collected', struct({ gc: 0 })],
    ['an empty delete', update({ deletes: [{ client: 5, ranges: [[0, 0]] }] })],
    ['a client without structs', update({ structs: [{ client: 5, clock: 0, structs: [] }] })],
    ['a client twice', update({ structs: repeat(2, () => ({ client: 5, clock: 0, structs: [{ gc: 1 }] })) })],
    [
      'a client without structs before another',
      update({
        structs: [
          { client: 5, clock: 0, structs: [] },
          { client: 6, clock: 0, structs: [{ gc: 1 }] },
        ],
      }),
    ],
    ['content 11', struct({ content: raw(11, [1]) })],
    ['type 7', struct({ content: type(7) })],
    ['value type 115', struct({ content: raw(8, [1, 115]) })],
    ['half of a surrogate pair', struct({ content: raw(4, [3, 0xed, 0xa0, 0xbd]) })],
    ['half of a character', struct({ content: raw(4, [1, 0xc3]) })],
    ['an overlong character', struct({ content: raw(4, [2, 0xc0, 0x80]) })],
    ['a key that is not UTF-8', struct({ content: raw(8, [1, 118, 1, 1, 0xff, 126]) })],
    ['an embed that is not JSON', struct({ content: embed('{a:1}') })],
    ['an undefined embed', struct({ content: embed('undefined') })],
    ['a format that is not JSON', struct({ content: format('bold', 'yes') })],
    ['options of a subdocument that are null', struct({ content: subdoc('guid', null) })],
    ['an item beside itself', struct({ origin: [5, 0], content: text('a') })],
    ['an item beside a later one', struct({ right: [5, 1], content: text('a') }, { gc: 1 })],
    ['an item inside itself', struct({ parent: [5, 0], content: text('a') })],
    ['a value of a key in two parts', struct({ key: 'k', content: text('ab') })],
    [
      'a value of a key before another in two parts',
      struct({ key: 'k', content: any(1) }, { right: [5, 0], content: any(2, 3) }),
    ],
    [
      'a value of a key continued in two parts',
      struct({ key: 'k', content: any(1) }, { origin: [5, 0], content: any(2, 3) }),
    ],
  ])('[V1] refuses %s', (_, bytes) => {
    expect(codeOf(bytes)).toBe('malformed')
  })

  test('[V1] refuses clients out of order, of which Yjs loses structs when it merges updates', () => {
    const first = struct({ gc: 2 })
    const second = update({
      structs: [
        { client: 3, clock: 0, structs: [{ content: text('a') }] },
        { client: 5, clock: 2, structs: [{ gc: 1 }] },
      ],
    })
    expect(codeOf(second, stateOf(docOf(first)))).toBe('malformed')
    expect(stateOf(docOf(first, second)).get(5)).toBe(3)
    expect(stateOf(docOf(Y.mergeUpdates([first, second]))).get(5)).not.toBe(3)
  })

  test('[V1] refuses deletes out of order, which take Yjs seconds', () => {
    const deletes = (...ranges: [number, number][]) => update({ deletes: [{ client: 5, ranges }] })
    const known = stateOf(docOf(abc))
    expect(codeOf(deletes([0, 1], [1, 1], [2, 1]), known)).toBe('accepted')
    expect(codeOf(deletes([2, 1], [0, 1]), known)).toBe('malformed')
    expect(codeOf(deletes([0, 2], [1, 2]), known)).toBe('malformed')
    const twice = update({ deletes: repeat(2, () => ({ client: 5, ranges: [[0, 1]] })) })
    expect(codeOf(twice, known)).toBe('malformed')
  })

  test('[V1] takes a value of a key in several parts if it is deleted at once', () => {
    const parts = [{ client: 5, clock: 0, structs: [{ key: 'k', content: any(1, 2) }, { gc: 1 }] }]
    const deletes: [number, number][][] = [
      [[0, 1]],
      [[1, 2]],
      [[0, 2]],
      [[0, 3]],
      [
        [0, 1],
        [1, 1],
      ],
    ]
    const codes = deletes.map((ranges) =>
      codeOf(update({ structs: parts, deletes: [{ client: 5, ranges }] })),
    )
    expect(codes).toEqual(['malformed', 'malformed', 'accepted', 'accepted', 'accepted'])
  })
})

describe('[V1] what an update may refer to', () => {
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
      'a circle of two',
      update({
        structs: [
          { client: 8, clock: 0, structs: [{ origin: [7, 0], content: text('a') }] },
          { client: 7, clock: 0, structs: [{ origin: [8, 0], content: text('a') }] },
        ],
      }),
    ],
    [
      'gap',
      'a circle through what comes before',
      update({
        structs: [
          { client: 8, clock: 0, structs: [{ right: [6, 0], content: text('a') }, { gc: 1 }] },
          { client: 7, clock: 0, structs: [{ origin: [8, 1], content: text('a') }, { gc: 1 }] },
          { client: 6, clock: 0, structs: [{ parent: [7, 1], content: text('a') }] },
        ],
      }),
    ],
    ['future_delete', 'a delete ahead', update({ deletes: [{ client: 5, ranges: [[2, 2]] }] })],
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
  ])('[V1] answers %s to %s', (code, _, bytes) => {
    expect(codeOf(bytes, stateOf(docOf(abc)))).toBe(code)
  })

  test('[V1] takes structs in any order that has no circle', () => {
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
    const verdict = validateUpdate(bytes, nothing)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    expect(disagreement(new Y.Doc(), bytes, verdict.value)).toBeUndefined()
  })

  test('[V1] refuses an item known in part because Yjs throws where that part is collected', () => {
    const doc = docOf(struct({ gc: 1 }))
    expect(judge(doc, abc)).toMatchObject({ fault: { code: 'gap' } })
    expect(() => Y.applyUpdate(doc, abc)).toThrow(TypeError)
    expect(codeOf(struct({ gc: 4 }), stateOf(docOf(abc)))).toBe('accepted')
  })

  test('[V1] refuses a value that Yjs would not delete whole, also if the key is known only', () => {
    const map = struct({ content: type(1) }, { parent: [5, 0], key: 'k', content: any(1) })
    const longer = update({
      structs: [{ client: 5, clock: 2, structs: [{ origin: [5, 1], content: text('xy') }] }],
    })
    expect(judge(docOf(map), longer)).toMatchObject({ fault: { code: 'malformed' } })
    const doc = docOf(map, longer, update({ deletes: [{ client: 5, ranges: [[3, 1]] }] }))
    const last = update({ deletes: [{ client: 5, ranges: [[0, 1]] }] })
    expect(() => Y.applyUpdate(doc, last)).toThrow('Unexpected case')
  })

  test('[V1] leaves new structs to the clients that the sender may write as', () => {
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

describe('[V1] what would become a key', () => {
  const proto = '__proto__'
  test.each<[string, StructScene]>([
    ['a root type', { parent: proto, content: text('a') }],
    ['a key', { key: proto, content: any(1) }],
    ['a value', { content: any(JSON.parse('{"__proto__":{"isAdmin":true}}')) }],
    ['a value inside values', { content: any([{ a: JSON.parse('{"__proto__":1}') as unknown }]) }],
    ['JSON', { content: json('1', '{"__proto__":1}') }],
    ['JSON inside JSON', { content: json('[{"a":{"b":[{"\\u005f_pro\\u0074o__":1}]}}]') }],
    ['an embed', { content: embed('{"x":0,"__proto__":1}') }],
    ['the value of a format', { content: format('bold', '{ "__proto__" : 1 }') }],
    ['a format', { content: format(proto, 'true') }],
    ['the options of a subdocument', { content: subdoc('g', JSON.parse('{"__proto__":1}')) }],
    [
      'the meta of a subdocument',
      { content: subdoc('g', { meta: JSON.parse('{"__proto__":1}') as unknown }) },
    ],
    ['an element', { content: type(3, proto) }],
    [
      'a key of which the size takes two bytes',
      { content: raw(8, [1, 118, 1, 0x89, 0, ...Buffer.from(proto), 126]) },
    ],
  ])('[V1] refuses __proto__ as the name of %s', (_, scene) => {
    expect(codeOf(struct(scene))).toBe('forbidden')
  })

  test.each<[string, StructScene]>([
    ['a text', { content: text(proto) }],
    ['a value', { content: any(proto, { proto }) }],
    ['a longer key', { content: any({ __proto__x: 1, 'x\t__proto__': 1, __proto: 1 }) }],
    ['a longer key in JSON', { content: json('{"__proto__x":1,"_":"__proto__","":{"x__proto__":1}}') }],
  ])('[V1] allows __proto__ in %s', (_, scene) => {
    expect(codeOf(struct(scene))).toBe('accepted')
  })

  test.each(['guid', 'gcFilter'])('[V1] refuses %s as an option of a subdocument', (name) => {
    expect(codeOf(struct({ content: subdoc('g', { [name]: 1 }) }))).toBe('forbidden')
  })
})

describe('[V1] how large an update may be', () => {
  const lifted: Options = { bounds: { bytes: Infinity } }
  const single = (i: number) => ({ client: i, clock: 0, structs: [{ gc: 1 }] })
  test.each<[string, () => Uint8Array, Options?]>([
    ['2 MiB', () => new Uint8Array(2 ** 21)],
    ['a million structs', () => structs(repeat(1_000_000, () => ({ gc: 1 }))), lifted],
    [
      '25,001 structs of each of two clients',
      () =>
        update({
          structs: [1, 2].map((client) => ({ client, clock: 0, structs: repeat(25_001, () => ({ gc: 1 })) })),
        }),
    ],
    ['65 clients', () => update({ structs: repeat(65, single) })],
    ['100,000 clients', () => update({ structs: repeat(100_000, single) })],
    ['a value of 33 levels', () => struct({ content: raw(8, [1, ...nestedAny(33)]) })],
    ['a value of 100,000 levels', () => struct({ content: raw(8, [1, ...nestedAny(100_000)]) })],
    ['JSON of 33 levels', () => struct({ content: json(nested(33)) })],
    ['JSON of 500,000 levels', () => struct({ content: embed(nested(500_000)) })],
    ['types of 65 levels', () => structs(chain(65))],
    ['types of 10,000 levels', () => structs(chain(10_000))],
    ['types of 65 levels, each beside a text', () => structs(chain(65, true))],
    ['a key of 4,097 characters', () => struct({ key: 'é'.repeat(4_097), content: any(1) })],
    ['1,001 subdocuments', () => structs(row(1_001, { content: subdoc('g', {}) }))],
    [
      '50,000 array items that Yjs joins until the memory ends',
      () => structs(row(50_000, { content: any(1) })),
    ],
    ['5,000 JSON items to join', () => structs(row(5_000, { content: json('1') }))],
    [
      '200,001 deletes',
      () =>
        update({
          structs: [{ client: 5, clock: 0, structs: [{ gc: 400_002 }] }],
          deletes: [{ client: 5, ranges: repeat(200_001, (i) => [2 * i, 1] as const) }],
        }),
    ],
  ])('[V1] refuses %s', (_, make, options = {}) => {
    const bytes = make()
    const startedAt = performance.now()
    expect(codeOf(bytes, nothing, options)).toBe('too_large')
    expect(performance.now() - startedAt).toBeLessThan(500)
  })

  /** Types inside each other. */
  function chain(depth: number, besideText = false): StructScene[] {
    if (!besideText)
      return repeat(depth, (i) => ({ ...(i > 0 && { parent: [5, i - 1] as const }), content: type(0) }))
    return repeat(depth, (i): StructScene[] => [
      { ...(i > 0 && { parent: [5, 3 * i - 1] as const }), content: text('ab') },
      { origin: [5, 3 * i + 1], content: type(0) },
    ]).flat()
  }

  test('[V1] sees types that several updates nest too deep', () => {
    const doc = docOf(structs(chain(64)))
    const deeper = update({
      structs: [{ client: 6, clock: 0, structs: [{ parent: [5, 63], content: type(0) }] }],
    })
    expect(judge(doc, deeper)).toMatchObject({ fault: { code: 'too_large' } })
    const beside = update({
      structs: [{ client: 6, clock: 0, structs: [{ origin: [5, 63], content: type(0) }] }],
    })
    expect(judge(doc, beside)).toMatchObject({ ok: true })
    const inText = update({
      structs: [{ client: 6, clock: 0, structs: [{ parent: [5, 63], content: text('ab') }] }],
    })
    expect(judge(doc, inText)).toMatchObject({ ok: true })
  })

  test('[V1] accepts as much as the bounds say', () => {
    expect(codeOf(structs(chain(64)))).toBe('accepted')
    expect(codeOf(structs(repeat(50_000, () => ({ gc: 1 }))))).toBe('accepted')
    expect(codeOf(update({ structs: repeat(64, (i) => single(64 - i)) }))).toBe('accepted')
    expect(codeOf(struct({ key: 'k'.repeat(4_096), content: any(1) }))).toBe('accepted')
    expect(codeOf(structs(row(1_000, { content: subdoc('g', {}) })))).toBe('accepted')
    expect(codeOf(structs(row(2_000, { content: any(1) })))).toBe('accepted')
    expect(codeOf(structs(row(49_999, { content: text('a') })))).toBe('accepted')
    expect(codeOf(struct({ gc: Number.MAX_SAFE_INTEGER }))).toBe('accepted')
    expect(codeOf(structs(row(9_000, { content: any(1) })), new Map([[5, 9_000]]))).toBe('accepted')
    expect(codeOf(abc, nothing, { bounds: { bytes: abc.length - 1 } })).toBe('too_large')
    expect(defaultBounds.bytes).toBe(2 ** 20)
  })

  test('[V1] refuses numbers of 2^53 and more and sums of them', () => {
    const number = (...bytes: number[]) => encode((e) => encoding.writeUint8Array(e, Uint8Array.from(bytes)))
    const large = (value: number) => [...encode((e) => encoding.writeVarUint(e, value))]
    const max = large(Number.MAX_SAFE_INTEGER)
    for (const bytes of [
      number(1, 1, 5, ...large(2 ** 53), 0, 1, 0), // the clock
      number(1, 1, ...large(2 ** 53), 0, 0, 1, 0), // the client
      number(1, 1, 5, 0, 0, ...large(2 ** 53), 0), // the length
      number(1, 2, 5, 0, 0, ...max, 0, 1, 0), // the clock after the second struct
      number(1, 1, 5, 0, 0, ...Array<number>(400).fill(0x80), 0, 0), // lib0 reads NaN
      number(...Array<number>(100_000).fill(0xff)),
    ]) {
      expect(codeOf(bytes)).toBe('malformed')
    }
    expect(codeOf(number(1, 1, ...max, 0, 0, 1, 0))).toBe('accepted')
  })

  test.each<[string, number[]]>([
    ['clients', [0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['structs', [1, 0xff, 0xff, 0xff, 0xff, 0x0f, 5, 0, 0, 1]],
    ['bytes of a string', [1, 1, 5, 0, 4, 1, 1, 114, 0xff, 0xff, 0xff, 0xff, 0x0f, 97, 0]],
    ['bytes', [1, 1, 5, 0, 3, 1, 1, 114, 0xff, 0xff, 0xff, 0xff, 0x0f, 97, 0]],
    ['values', [1, 1, 5, 0, 8, 1, 1, 114, 0xff, 0xff, 0xff, 0xff, 0x0f, 126, 0]],
    ['JSON values', [1, 1, 5, 0, 2, 1, 1, 114, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 49, 0]],
    ['keys of a value', [1, 1, 5, 0, 8, 1, 1, 114, 1, 118, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 97, 126, 0]],
    ['members of a value', [1, 1, 5, 0, 8, 1, 1, 114, 1, 117, 0xff, 0xff, 0xff, 0xff, 0x0f, 126, 0]],
    ['clients with deletes', [0, 0xff, 0xff, 0xff, 0xff, 0x0f, 5, 1, 0, 1]],
    ['deletes', [0, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1]],
  ])('[V1] refuses more %s than there are, at once', (_, bytes) => {
    const startedAt = performance.now()
    expect(codeOf(Uint8Array.from(bytes))).toBe('malformed')
    expect(performance.now() - startedAt).toBeLessThan(50)
  })

  test('[V1] does not remember more unknown clients than an update may have', () => {
    const deletes = repeat(100_000, (client) => ({ client, ranges: [] }))
    expect(codeOf(update({ deletes }))).toBe('gap')
  })

  test('[V1] refuses what hangs or stops decoders of other versions', () => {
    // yjs#687: mergeUpdatesV2 does not come back; yjs#479: the bytes of `garbagedoc` in base64.
    const bombs = [
      '00010000000001000100010200001602000001fdffffffff7f0000',
      Buffer.from('garbagedoc', 'base64').toString('hex'),
    ]
    for (const hex of bombs) {
      expect(codeOf(Uint8Array.from(Buffer.from(hex, 'hex')))).toBe('malformed')
    }
    const doc = docOf(abc)
    expect(judge(doc, Y.encodeStateAsUpdateV2(doc))).toMatchObject({ ok: false })
  })
})

test('[V1] asks the document where an item lies and what is deleted', () => {
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
