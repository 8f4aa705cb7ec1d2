import * as encoding from 'lib0/encoding'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import {
  abc,
  any,
  codeOf,
  docOf,
  embed,
  encode,
  json,
  validate,
  nested,
  nestedAny,
  emptyStateVector,
  raw,
  repeat,
  struct,
  structs,
  subdoc,
  text,
  type,
  update,
  type StructScene,
} from '../../../test/support/updates/scenes.ts'
import { defaultBounds } from './update-bounds.ts'
import { type Options } from './validate-update.ts'

/** Items, each to the right of the item before. */
const row = (count: number, content: StructScene & { content: unknown }) =>
  repeat(count, (i): StructScene => (i === 0 ? content : { ...content, origin: [5, i - 1] }))

describe('[V1] the bounds of an update', () => {
  const lifted: Options = { bounds: { bytes: Infinity } }
  const single = (i: number) => ({ client: i, clock: 0, structs: [{ gc: 1 }] })
  test.each<[string, () => Uint8Array, Options?]>([
    ['2 MiB of bytes', () => new Uint8Array(2 ** 21)],
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
  ])('[V1] an update with %s is refused as too large', (_, make, options = {}) => {
    const bytes = make()
    expect(expectToEnd(() => codeOf(bytes, emptyStateVector, options))).toBe('too_large')
  })

  /** Types inside each other; with `besideText`, each beside a text. */
  function chain(depth: number, besideText = false): StructScene[] {
    if (!besideText)
      return repeat(depth, (i) => ({ ...(i > 0 && { parent: [5, i - 1] as const }), content: type(0) }))
    return repeat(depth, (i): StructScene[] => [
      { ...(i > 0 && { parent: [5, 3 * i - 1] as const }), content: text('ab') },
      { origin: [5, 3 * i + 1], content: type(0) },
    ]).flat()
  }

  test('[V1] an update is refused if it nests types too deep together with the types that are stored already', () => {
    const doc = docOf(structs(chain(64)))
    const deeper = update({
      structs: [{ client: 6, clock: 0, structs: [{ parent: [5, 63], content: type(0) }] }],
    })
    expect(validate(doc, deeper)).toMatchObject({ fault: { code: 'too_large' } })
    const beside = update({
      structs: [{ client: 6, clock: 0, structs: [{ origin: [5, 63], content: type(0) }] }],
    })
    expect(validate(doc, beside)).toMatchObject({ ok: true })
    const inText = update({
      structs: [{ client: 6, clock: 0, structs: [{ parent: [5, 63], content: text('ab') }] }],
    })
    expect(validate(doc, inText)).toMatchObject({ ok: true })
  })

  test('[V1] an update exactly at a bound is accepted', () => {
    expect(codeOf(structs(chain(64)))).toBe('accepted')
    expect(codeOf(structs(repeat(50_000, () => ({ gc: 1 }))))).toBe('accepted')
    expect(codeOf(update({ structs: repeat(64, (i) => single(64 - i)) }))).toBe('accepted')
    expect(codeOf(struct({ key: 'k'.repeat(4_096), content: any(1) }))).toBe('accepted')
    expect(codeOf(structs(row(1_000, { content: subdoc('g', {}) })))).toBe('accepted')
    expect(codeOf(structs(row(2_000, { content: any(1) })))).toBe('accepted')
    expect(codeOf(structs(row(49_999, { content: text('a') })))).toBe('accepted')
    expect(codeOf(struct({ gc: Number.MAX_SAFE_INTEGER }))).toBe('accepted')
    expect(codeOf(structs(row(9_000, { content: any(1) })), new Map([[5, 9_000]]))).toBe('accepted')
    expect(codeOf(abc, emptyStateVector, { bounds: { bytes: abc.length - 1 } })).toBe('too_large')
    expect(defaultBounds.bytes).toBe(2 ** 20)
  })

  test('[V1] an update with a number of 2^53 or more, or a clock that reaches it by addition, is refused', () => {
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
  ])('[V1] an update with a count of %s beyond its remaining bytes is refused', (_, bytes) => {
    expect(expectToEnd(() => codeOf(Uint8Array.from(bytes)))).toBe('malformed')
  })

  test('[V1] an update that names 100,000 unknown clients is refused', () => {
    const deletes = repeat(100_000, (client) => ({ client, ranges: [] }))
    expect(codeOf(update({ deletes }))).toBe('gap')
  })

  test('[V1] bytes that hang or crash Yjs decoders of other versions are refused', () => {
    // yjs#687: mergeUpdatesV2 never returns; yjs#479: the bytes of `garbagedoc` in base64.
    const bombs = [
      '00010000000001000100010200001602000001fdffffffff7f0000',
      Buffer.from('garbagedoc', 'base64').toString('hex'),
    ]
    for (const hex of bombs) {
      expect(codeOf(Uint8Array.from(Buffer.from(hex, 'hex')))).toBe('malformed')
    }
    const doc = docOf(abc)
    expect(validate(doc, Y.encodeStateAsUpdateV2(doc))).toMatchObject({ ok: false })
  })
})
