import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  abc,
  any,
  binary,
  codeOf,
  deleted,
  disagreement,
  docOf,
  embed,
  format,
  json,
  validate,
  nested,
  nestedAny,
  emptyStateVector,
  raw,
  repeat,
  stateOf,
  struct,
  subdoc,
  text,
  type,
  update,
  type StructScene,
} from '../../../test/support/updates/scenes.ts'
import { codeInRoot } from './item-places.ts'
import { validateUpdate } from './validate-update.ts'

describe('[V1] the validation of content', () => {
  test.each<[string, StructScene]>([
    ['a garbage-collected struct', { gc: 7 }],
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
  ])('[V1] the validation accepts %s, as Yjs does', (_, scene) => {
    const bytes = struct(scene)
    const verdict = validateUpdate(bytes, emptyStateVector)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    expect(verdict.value).toMatchObject({ hasChanges: true, structCount: 1, clients: [5] })
    expect(disagreement(new Y.Doc(), bytes, verdict.value)).toBeUndefined()
  })

  test('[V1] the validation reports what an update adds', () => {
    const doc = docOf(abc)
    const more = update({
      structs: [
        { client: 9, clock: 0, structs: [{ origin: [5, 2], content: text('d😀') }] },
        { client: 5, clock: 0, structs: [{ content: text('abc') }] },
      ],
      deletes: [{ client: 5, ranges: [[0, 1]] }],
    })
    expect(validate(doc, more)).toEqual({
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
        hasChanges: true,
        structCount: 2,
        clients: [9],
        changes: [
          { client: 9, from: 0, to: 3, places: [0, codeInRoot(false)], deletes: [] },
          { client: 5, from: 3, to: 3, places: [], deletes: [0, 1] },
        ],
      },
    })
    Y.applyUpdate(doc, more)
    expect(validate(doc, more)).toMatchObject({ value: { hasChanges: false, clients: [] } })
    const other = update({ deletes: [{ client: 5, ranges: [[0, 2]] }] })
    expect(validate(doc, other)).toMatchObject({
      value: { hasChanges: true, clients: [], clocks: emptyStateVector },
    })
    expect(validateUpdate(update({}), emptyStateVector)).toMatchObject({
      value: { hasChanges: false, structCount: 0 },
    })
  })

  test.each<[string, Uint8Array]>([
    ['an update without bytes', new Uint8Array()],
    ['bytes after the end of an update', Uint8Array.of(...abc, 0)],
    ['an empty string', struct({ content: text('') })],
    ['a struct without values', struct({ content: any() })],
    ['a struct without JSON', struct({ content: json() })],
    ['deleted content of length 0', struct({ content: deleted(0) })],
    ['a garbage-collected struct of length 0', struct({ gc: 0 })],
    ['an empty delete', update({ deletes: [{ client: 5, ranges: [[0, 0]] }] })],
    ['a client without structs', update({ structs: [{ client: 5, clock: 0, structs: [] }] })],
    [
      'a client that is named twice',
      update({ structs: repeat(2, () => ({ client: 5, clock: 0, structs: [{ gc: 1 }] })) }),
    ],
    [
      'a client without structs before another',
      update({
        structs: [
          { client: 5, clock: 0, structs: [] },
          { client: 6, clock: 0, structs: [{ gc: 1 }] },
        ],
      }),
    ],
    ['the unknown content 11', struct({ content: raw(11, [1]) })],
    ['the unknown shared type 7', struct({ content: type(7) })],
    ['the unknown value type 115', struct({ content: raw(8, [1, 115]) })],
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
      'a value in two parts before another value of the key',
      struct({ key: 'k', content: any(1) }, { right: [5, 0], content: any(2, 3) }),
    ],
    [
      'a value in two parts after another value of the key',
      struct({ key: 'k', content: any(1) }, { origin: [5, 0], content: any(2, 3) }),
    ],
  ])('[V1] the validation refuses %s', (_, bytes) => {
    expect(codeOf(bytes)).toBe('malformed')
  })

  test('[V1] the validation refuses clients out of order, because Yjs loses their structs when it merges updates', () => {
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

  test('[V1] the validation refuses deletes out of order, which can take Yjs seconds', () => {
    const deletes = (...ranges: [number, number][]) => update({ deletes: [{ client: 5, ranges }] })
    const known = stateOf(docOf(abc))
    expect(codeOf(deletes([0, 1], [1, 1], [2, 1]), known)).toBe('accepted')
    expect(codeOf(deletes([2, 1], [0, 1]), known)).toBe('malformed')
    expect(codeOf(deletes([0, 2], [1, 2]), known)).toBe('malformed')
    const twice = update({ deletes: repeat(2, () => ({ client: 5, ranges: [[0, 1]] })) })
    expect(codeOf(twice, known)).toBe('malformed')
  })

  test('[V1] the validation accepts the value of a key in several parts if the same update deletes all of it', () => {
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

describe('[V1] the validation of keys', () => {
  const proto = '__proto__'
  test.each<[string, StructScene]>([
    ['a root type', { parent: proto, content: text('a') }],
    ['a key', { key: proto, content: any(1) }],
    ['a key in a value', { content: any(JSON.parse('{"__proto__":{"isAdmin":true}}')) }],
    ['a key in a nested value', { content: any([{ a: JSON.parse('{"__proto__":1}') as unknown }]) }],
    ['a key in JSON', { content: json('1', '{"__proto__":1}') }],
    ['a key in nested JSON', { content: json('[{"a":{"b":[{"\\u005f_pro\\u0074o__":1}]}}]') }],
    ['a key in an embed', { content: embed('{"x":0,"__proto__":1}') }],
    ['a key in the value of a format', { content: format('bold', '{ "__proto__" : 1 }') }],
    ['a format', { content: format(proto, 'true') }],
    ['an option of a subdocument', { content: subdoc('g', JSON.parse('{"__proto__":1}')) }],
    [
      'a key in the meta of a subdocument',
      { content: subdoc('g', { meta: JSON.parse('{"__proto__":1}') as unknown }) },
    ],
    ['an element', { content: type(3, proto) }],
    [
      'a key whose size takes two bytes',
      { content: raw(8, [1, 118, 1, 0x89, 0, ...Buffer.from(proto), 126]) },
    ],
  ])('[V1] the validation refuses __proto__ as the name of %s', (_, scene) => {
    expect(codeOf(struct(scene))).toBe('forbidden')
  })

  test.each<[string, StructScene]>([
    ['a text', { content: text(proto) }],
    ['a value', { content: any(proto, { proto }) }],
    ['a longer key', { content: any({ __proto__x: 1, 'x\t__proto__': 1, __proto: 1 }) }],
    ['a longer key in JSON', { content: json('{"__proto__x":1,"_":"__proto__","":{"x__proto__":1}}') }],
  ])('[V1] the validation accepts __proto__ in %s', (_, scene) => {
    expect(codeOf(struct(scene))).toBe('accepted')
  })

  test.each(['guid', 'gcFilter'])('[V1] the validation refuses %s as an option of a subdocument', (name) => {
    expect(codeOf(struct({ content: subdoc('g', { [name]: 1 }) }))).toBe('forbidden')
  })
})
