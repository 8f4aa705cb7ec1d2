import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { disagreement, docOf, validate, struct, text, update } from '../../../test/support/updates/scenes.ts'
import { validateUpdate } from './validate-update.ts'

describe('[V1.1] known structs in an update', () => {
  const expectText = (bytes: Uint8Array, expected: string) =>
    expect(docOf(bytes).getText('r').toJSON()).toBe(expected)

  test('[V1.1] known structs are removed from an update, so that they replace no stored content when updates are merged', () => {
    const first = struct({ content: text('abc') })
    const second = update({
      structs: [
        { client: 9, clock: 0, structs: [{ origin: [5, 4], content: text('!') }] },
        { client: 5, clock: 3, structs: [{ origin: [5, 2], content: text('de') }] },
      ],
    })
    const hostile = update({
      structs: [
        { client: 6, clock: 0, structs: [{ origin: [5, 2], content: text('x') }] },
        { client: 5, clock: 2, structs: [{ gc: 3 }] },
      ],
    })
    const doc = docOf(first, second)
    expectText(Y.mergeUpdates([first, second, hostile]), 'abcx')
    const verdict = validate(doc, hostile)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    expectText(Y.mergeUpdates([first, second, verdict.value.update]), 'abcde!x')
    expect(disagreement(doc, verdict.value.update, verdict.value)).toBeUndefined()
    expectText(Y.encodeStateAsUpdate(doc), 'abcde!x')
  })

  test('[V1.1] known structs are removed from an update, and so is the known part of a garbage-collected struct', () => {
    const known = new Map([
      [5, 3],
      [6, 4],
      [7, 1],
    ])
    const bytes = update({
      structs: [
        { client: 7, clock: 0, structs: [{ content: text('a') }] },
        { client: 6, clock: 2, structs: [{ gc: 1 }, { gc: 4 }, { content: text('b') }] },
        { client: 5, clock: 1, structs: [{ gc: 2 }, { content: text('c') }, { gc: 300 }] },
      ],
      deletes: [{ client: 7, ranges: [[0, 1]] }],
    })
    const expected = update({
      structs: [
        { client: 6, clock: 4, structs: [{ gc: 3 }, { content: text('b') }] },
        { client: 5, clock: 3, structs: [{ content: text('c') }, { gc: 300 }] },
      ],
      deletes: [{ client: 7, ranges: [[0, 1]] }],
    })
    expect(validateUpdate(bytes, known)).toMatchObject({ ok: true, value: { update: expected } })
    expect(validateUpdate(expected, known)).toMatchObject({ ok: true, value: { update: expected } })
  })
})
