import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { hostileUpdate } from '../../../test/support/updates/hostile-updates.ts'
import { knownDoc } from '../../../test/support/updates/known-doc.ts'
import {
  disagreement,
  docOf,
  validate,
  stateOf,
  struct,
  embed,
} from '../../../test/support/updates/scenes.ts'
import { reportCounts, rounds } from '../../../test/support/random/effort.ts'
import { createRandom, testSeed } from '../../../test/support/random/random.ts'
import { realUpdates, Session, type RealUpdate } from '../../../test/support/updates/sessions.ts'
import { maxStructsPerStep } from './update-order.ts'
import { utf16Length } from './update-reader.ts'
import {
  validateInSteps,
  validateUpdate,
  type Options,
  type StateVector,
  type Verdict,
} from './validate-update.ts'

/** Measured: at most 1. The validation has no loop over the document. More lookups would mean that it has one. */
const maxLookupsPerByte = 1

/** Counts how often the validation asks for something about the document. */
function countLookups(known: StateVector, options: Options) {
  let lookups = 0
  const counted =
    <Args extends unknown[], Result>(ask: (...args: Args) => Result) =>
    (...args: Args): Result => {
      lookups++
      return ask(...args)
    }
  const { placeOf, isDeleted, mayWrite } = options
  return {
    known: { get: counted((client: number) => known.get(client)) },
    options: {
      ...options,
      ...(placeOf && { placeOf: counted(placeOf) }),
      ...(isDeleted && { isDeleted: counted(isDeleted) }),
      ...(mayWrite && { mayWrite: counted(mayWrite) }),
    },
    count: () => lookups,
  }
}

/** Validates an update, and expects that the lookups are proportional to its bytes. */
function validateCounted(bytes: Uint8Array, known: StateVector, options: Options): Verdict {
  const lookups = countLookups(known, options)
  const verdict = validateUpdate(bytes, lookups.known, lookups.options)
  if (lookups.count() > maxLookupsPerByte * bytes.length) {
    throw new Error(`${lookups.count()} lookups for ${Buffer.from(bytes).toString('hex')}`)
  }
  return verdict
}

/** Validates changed copies of real updates, and applies the accepted ones with Yjs. */
class Trial {
  tried = 0
  accepted = 0
  private readonly base: Uint8Array
  private readonly known: StateVector
  private readonly options: Options

  constructor({ base }: RealUpdate) {
    const doc = docOf(base)
    this.base = base
    this.known = stateOf(doc)
    this.options = knownDoc(doc)
  }

  check(bytes: Uint8Array): void {
    this.tried++
    const verdict = validateCounted(bytes, this.known, this.options)
    if (!verdict.ok) return
    this.accepted++
    const { update } = verdict.value
    const problem =
      disagreement(docOf(this.base), bytes, verdict.value) ??
      (update === bytes ? undefined : disagreement(docOf(this.base), update, verdict.value))
    if (problem !== undefined) throw new Error(`${problem}: ${Buffer.from(bytes).toString('hex')}`)
  }
}

const sum = (trials: readonly Trial[], key: 'tried' | 'accepted') =>
  trials.reduce((n, trial) => n + trial[key], 0)

describe('[V1] the validation of random updates', () => {
  test('[V1] the validation agrees with Yjs on sessions of several editors, in order and out of order', (context) => {
    const total = { accepted: 0, changes: 0, gap: 0, future_delete: 0 }
    const steps = fc.array(
      fc.record({ peer: fc.nat(3), action: fc.nat(999), a: fc.nat(999), b: fc.nat(999) }),
      { minLength: 20, maxLength: 200, size: 'max' },
    )
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 4 }), steps, (peers, list) => {
        const session = new Session(peers)
        expect(session.run(list)).toBeUndefined()
        for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += session.counts[key]
      }),
      { numRuns: rounds(14) },
    )
    reportCounts(context, total)
    expect(Math.min(...Object.values(total))).toBeGreaterThan(0)
  })

  test('[V1] the validation agrees with Yjs on real updates that are cut off at every byte', (context) => {
    const trials = realUpdates(testSeed, rounds(40)).map((real) => {
      const trial = new Trial(real)
      for (let end = 0; end < real.bytes.length; end++) trial.check(real.bytes.subarray(0, end))
      return trial
    })
    reportCounts(context, { 'cut updates': sum(trials, 'tried') })
    expect(sum(trials, 'tried')).toBeGreaterThan(1_000)
  })

  test('[V1] the validation agrees with Yjs on real updates with 1 to 8 bytes changed', (context) => {
    const random = createRandom()
    const reals = realUpdates(testSeed + 1, 80)
    const trials = reals.map((real) => new Trial(real))
    for (let i = 0; i < rounds(4_000); i++) {
      const index = random(reals.length)
      const bytes = (reals[index] as RealUpdate).bytes.slice()
      for (let changes = 1 + random(1 + random(8)); changes > 0; changes--) {
        const at = random(bytes.length)
        const byte = bytes[at] as number
        bytes[at] = [random(256), byte + 1, byte - 1, byte ^ (1 << random(8))][random(4)] as number
      }
      ;(trials[index] as Trial).check(bytes)
    }
    reportCounts(context, { 'changed updates': sum(trials, 'tried') })
    expect(sum(trials, 'accepted')).toBeGreaterThan(100)
  })

  test('[V1] the validation agrees with Yjs on hostile updates, one after the other on the same document', (context) => {
    const random = createRandom()
    let accepted = 0
    const codes: Record<string, number> = {}
    for (let tried = 0; tried < rounds(800);) {
      const doc = new Y.Doc({ gc: random(4) > 0 })
      if (random(2)) doc.getText('t').observe(() => {})
      const log: string[] = []
      for (let i = 0; i < 40; i++, tried++) {
        const bytes = hostileUpdate(random, stateOf(doc))
        const verdict = validateCounted(bytes, stateOf(doc), knownDoc(doc))
        const code = verdict.ok ? 'accepted' : verdict.fault.code
        codes[code] = (codes[code] ?? 0) + 1
        if (!verdict.ok) continue
        accepted++
        log.push(Buffer.from(bytes).toString('hex'))
        const problem = disagreement(doc, bytes, verdict.value)
        if (problem !== undefined) throw new Error(`${problem} after ${log.join(' ')}`)
      }
      // The resulting document can be stored, loaded and sent to others.
      const state = Y.encodeStateAsUpdate(doc)
      expect(validate(new Y.Doc(), state)).toMatchObject({ ok: true })
      expect(stateOf(docOf(state))).toEqual(stateOf(doc))
    }
    reportCounts(context, codes)
    expect(accepted).toBeGreaterThan(200)
  })

  test('[V1] the validation agrees with Yjs on random bytes', (context) => {
    const random = createRandom()
    const trial = new Trial({ base: Uint8Array.of(0, 0), bytes: Uint8Array.of() })
    for (let i = 0; i < rounds(4_000); i++) {
      const limit = [256, 12, 3][random(3)] as number
      trial.check(Uint8Array.from({ length: random(60) }, () => random(limit)))
    }
    reportCounts(context, { 'random inputs': trial.tried })
  })
})

describe('[V1] the validation of texts', () => {
  test('[V1] the validation accepts the same UTF-8 as TextDecoder, and computes the same length', () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xef),
    )
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(byte, { maxLength: 8 }).map((list) => Uint8Array.from(list)),
          fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
        ),
        (bytes) => {
          let expected = -1
          try {
            expected = decoder.decode(bytes).length
          } catch {}
          // Not `expect`, which is slow: fast-check shows the bytes.
          return utf16Length(bytes, 0, bytes.length) === expected
        },
      ),
      { numRuns: rounds(1_000) },
    )
  })

  test('[V1] the validation accepts the same JSON as JSON.parse, except for __proto__', () => {
    const tokens =
      '{ } [ ] , : " "a" "\\u005F" "__proto__" \\ true false null 0 01 -1 - 1. .5 2.5e+3 1e 1E-7 \t \n \u0001 é'
    const token = fc.constantFrom(...tokens.split(' '), ' ', '\v', '﻿')
    const pieces = fc.array(token, { maxLength: 7 }).map((list) => list.join(''))
    const changed = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), token)
      .map(
        ([json, at, piece]) =>
          json.slice(0, at % (json.length + 1)) + piece + json.slice(at % (json.length + 1)),
      )
    fc.assert(
      fc.property(
        fc.oneof(pieces, changed, fc.json()),
        (text) => validateUpdate(struct({ content: embed(text) }), new Map()).ok === isAllowed(text),
      ),
      { numRuns: rounds(1_000) },
    )
  })

  function isAllowed(text: string): boolean {
    let isAllowed = true
    try {
      JSON.parse(text, (key, value: unknown) => {
        if (key === '__proto__') isAllowed = false
        return value
      })
    } catch {
      return false
    }
    return isAllowed
  }
})

describe('[V1] the work of validating an update', () => {
  /** Validates in steps, and returns the number of lookups and of steps. */
  function workOf(bytes: Uint8Array, known: StateVector, options: Options) {
    const lookups = countLookups(known, options)
    const steps = validateInSteps(bytes, lookups.known, lookups.options)
    for (let count = 1; ; count++) {
      const { done, value } = steps.next()
      if (done) return { lookups: lookups.count(), steps: count, isAccepted: value.ok }
    }
  }

  test.each([10, 1_000])('[V1] a keystroke needs 4 lookups in a document of %i insertions', (insertions) => {
    const doc = new Y.Doc()
    const text = doc.getText('t')
    for (let i = 0; i < insertions; i++) text.insert((i * 7919) % (text.length + 1), 'some words')
    const known = stateOf(doc)
    let bytes: Uint8Array = new Uint8Array()
    doc.once('update', (update: Uint8Array) => (bytes = update))
    text.insert(50, 'x')
    const work = workOf(bytes, known, { ...knownDoc(doc), mayWrite: () => true })
    expect(work).toEqual({ lookups: 4, steps: 1, isAccepted: true })
  })

  test('[V1] an update of 1 MiB to an empty document needs 1 lookup, and steps in proportion to its structs', () => {
    const ofText = new Y.Doc()
    ofText.getText('t').insert(0, 'some wörds 😀'.repeat(65_000))
    expect(workOf(Y.encodeStateAsUpdate(ofText), new Map(), {})).toEqual({
      lookups: 1,
      steps: 1,
      isAccepted: true,
    })
    const ofStructs = new Y.Doc()
    const text = ofStructs.getText('t')
    for (let i = 0; i < 8_000; i++) text.insert((i * 7919) % (text.length + 1), 'abcde')
    const structs = ofStructs.store.clients.get(ofStructs.clientID)?.length ?? 0
    expect(structs).toBeGreaterThan(15_000)
    const { steps, ...work } = workOf(Y.encodeStateAsUpdate(ofStructs), new Map(), {})
    expect(work).toEqual({ lookups: 1, isAccepted: true })
    // The structs are read in steps, and then their order is checked in steps.
    expect(steps).toBeLessThanOrEqual(2 * Math.ceil(structs / maxStructsPerStep))
  })
})
