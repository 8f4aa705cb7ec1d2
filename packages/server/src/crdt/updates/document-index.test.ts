import { describe, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { countStep, expectShortIterations } from '../../../test/support/measures/loop-work.ts'
import { hostileUpdate } from '../../../test/support/updates/hostile-updates.ts'
import { knownDoc } from '../../../test/support/updates/known-doc.ts'
import { rounds } from '../../../test/support/random/effort.ts'
import { createRandom, type Random, testSeed } from '../../../test/support/random/random.ts'
import { any, docOf, stateOf, struct, text, type, update } from '../../../test/support/updates/scenes.ts'
import { randomSteps, Session } from '../../../test/support/updates/sessions.ts'
import { DamagedLog } from '../content/errors.ts'
import { DocumentIndex } from './document-index.ts'

function accept(index: DocumentIndex, bytes: Uint8Array): void {
  const verdict = index.check(bytes)
  if (!verdict.ok) throw new Error(verdict.fault.message)
  index.add(verdict.value)
}

/**
 * What the index learns later than Yjs, which deletes some items by itself and garbage-collects (`collected`) deleted
 * items. Until then the items are present in the index.
 */
type Later = 'deleted or collected' | 'collected' | 'nothing'

/** The first difference between an index and Yjs; undefined if there is none. */
function difference(index: DocumentIndex, doc: Y.Doc, later: Later): string | undefined {
  const { placeOf, isDeleted } = knownDoc(doc)
  const clocks = stateOf(doc)
  if (!sameMaps(clocksOf(index), clocks)) return 'clocks'
  if (Buffer.compare(index.stateVector(), Y.encodeStateVector(doc)) !== 0) return 'state vector'
  for (const [client, end] of clocks) {
    for (let clock = 0; clock < end; clock++) {
      const at = `of ${client} at ${clock}`
      const [mine, theirs] = [index.isDeleted(client, clock, 1), isDeleted(client, clock, 1)]
      if (mine !== theirs && (mine || later !== 'deleted or collected')) return `deleted ${at}: ${mine}`
      const [place, expected] = [index.placeOf(client, clock), placeOf(client, clock)]
      const isSame = place?.depth === expected?.depth && place?.isEntry === expected?.isEntry
      if (!isSame && (place === undefined || expected !== undefined || later === 'nothing')) {
        return `place ${at}: ${JSON.stringify(place)}, not ${JSON.stringify(expected)}`
      }
    }
  }
  return undefined
}

const clocksOf = (index: DocumentIndex) => Y.decodeStateVector(index.stateVector())

const sameMaps = (a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>) =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)

/** Whether two indexes are equal. */
const isEqual = (a: DocumentIndex, b: DocumentIndex) => {
  const sorted = (index: DocumentIndex) => {
    const sections: number[][] = []
    const message = index.toMessage()
    for (let at = 0; at < message.length;) {
      const size = 4 + (message[at + 2] as number) + (message[at + 3] as number)
      sections.push([...message.subarray(at, at + size)])
      at += size
    }
    return JSON.stringify(sections.sort((x, y) => (x[0] as number) - (y[0] as number)))
  }
  return sorted(a) === sorted(b)
}

/** Splits a list into random pieces of one to `maxLength`. */
function pieces<T>(list: readonly T[], maxLength: number, random: Random): T[][] {
  const rest = [...list]
  const result: T[][] = []
  while (rest.length > 0) result.push(rest.splice(0, 1 + random(maxLength)))
  return result
}

/** Runs a session. `index` receives the updates of the clients, `broadcasts` and `rows` those that the server sends on. */
function replay(random: Random, steps: number) {
  const session = new Session(2 + random(3))
  const index = new DocumentIndex()
  const broadcasts = new DocumentIndex()
  const rows: Uint8Array[] = []
  const problems: string[] = []
  session.server.on('update', (bytes: Uint8Array) => {
    rows.push(bytes)
    accept(broadcasts, bytes)
  })
  session.onAccepted = (server, bytes) => {
    const problem = difference(index, server, 'deleted or collected')
    if (problem !== undefined) problems.push(problem)
    accept(index, bytes)
  }
  const sessionProblem = session.run(randomSteps(random, steps))
  if (sessionProblem !== undefined) problems.push(sessionProblem)
  return { server: session.server, index, broadcasts, rows, problems }
}

describe('[V2] an index and Yjs', () => {
  test('[V2] an index agrees with Yjs after each update of a session', () => {
    const random = createRandom()
    for (let i = 0; i < rounds(8); i++) {
      const { server, index, problems } = replay(random, 20 + random(150))
      expect(problems).toEqual([])
      expect(difference(index, server, 'deleted or collected')).toBeUndefined()
    }
  })

  test('[V2] an index of broadcasts agrees with Yjs, also about items that Yjs deletes by itself', () => {
    const random = createRandom(testSeed + 1)
    for (let i = 0; i < rounds(8); i++) {
      const { server, broadcasts } = replay(random, 20 + random(150))
      expect(difference(broadcasts, server, 'collected')).toBeUndefined()
    }
  })

  test('[V2] an index agrees with Yjs if it is built from rows, from merged rows or from a snapshot with rows', () => {
    const random = createRandom(testSeed + 2)
    for (let i = 0; i < rounds(8); i++) {
      const { server, broadcasts, rows } = replay(random, 20 + random(150))
      expect(isEqual(DocumentIndex.of(rows), broadcasts)).toBe(true)
      const merged = pieces(rows, 12, random).map((some) => Y.mergeUpdates(some))
      expect(isEqual(DocumentIndex.of(merged), broadcasts)).toBe(true)
      expect(difference(DocumentIndex.of([Y.mergeUpdates(rows)]), server, 'collected')).toBeUndefined()

      const cut = random(rows.length + 1)
      const snapshot = Y.encodeStateAsUpdate(docOf(...rows.slice(0, cut)))
      const compacted = DocumentIndex.of([snapshot, ...rows.slice(cut)])
      expect(difference(compacted, server, 'collected')).toBeUndefined()
      const whole = Y.encodeStateAsUpdate(server)
      expect(difference(DocumentIndex.of([whole]), server, 'nothing')).toBeUndefined()
      // Rows that are part of the snapshot may still exist.
      expect(difference(DocumentIndex.of([whole, ...rows]), server, 'nothing')).toBeUndefined()
    }
  })

  test('[V2] an index agrees with Yjs after hostile updates', () => {
    const random = createRandom(testSeed + 3)
    let accepted = 0
    for (let tried = 0; tried < rounds(1_500);) {
      let doc = new Y.Doc({ gc: random(4) > 0 })
      let index = new DocumentIndex()
      let rows: Uint8Array[] = []
      for (let i = 0; i < 40; i++, tried++) {
        const bytes = hostileUpdate(random, clocksOf(index))
        const verdict = index.check(bytes)
        if (!verdict.ok) continue
        accepted++
        Y.applyUpdate(doc, bytes)
        expect(doc.store.pendingStructs ?? doc.store.pendingDs).toBeNull()
        index.add(verdict.value)
        rows.push(verdict.value.update)
        expect(difference(index, doc, 'deleted or collected')).toBeUndefined()
        if (random(10) > 0) continue
        rows = [Y.encodeStateAsUpdate(doc)]
        index = DocumentIndex.of(rows)
        doc = docOf(...rows)
      }
      expect(difference(DocumentIndex.of(rows), doc, 'deleted or collected')).toBeUndefined()
      const merged = Y.mergeUpdates(rows)
      expect(difference(DocumentIndex.of([merged]), doc, 'deleted or collected')).toBeUndefined()
      expect(difference(DocumentIndex.of([merged]), docOf(merged), 'deleted or collected')).toBeUndefined()
    }
    expect(accepted).toBeGreaterThan(300)
  })

  test('[V2] an index that moved to another thread equals the original, also after a change', async () => {
    const random = createRandom(testSeed + 4)
    for (let i = 0; i < rounds(4); i++) {
      const { index, server } = replay(random, 100)
      const moved = await DocumentIndex.fromMessage(structuredClone(index.toMessage()))
      expect(isEqual(moved, index)).toBe(true)
      server.getText('t').insert(0, 'more')
      const change = Y.encodeStateAsUpdate(server, moved.stateVector())
      accept(moved, change)
      accept(index, change)
      expect(isEqual(moved, index)).toBe(true)
    }
    expect((await DocumentIndex.fromMessage(new DocumentIndex().toMessage())).size).toBe(0)
  })
})

describe('[S2] an index from a thread', () => {
  /** Each takes less than a microsecond. */
  const maxClientsPerIteration = 10_000
  const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
  const arrive = async (message: Float64Array) => {
    let index!: DocumentIndex
    // The index of a client consists of views of the message.
    const view = vi.spyOn(message, 'subarray').mockImplementation((from, to) => {
      countStep()
      return Float64Array.prototype.subarray.call(message, from, to)
    })
    const run = async () => {
      index = await DocumentIndex.fromMessage(message)
      index.stateVector()
    }
    await expectShortIterations(run, { steps: 2 * maxClientsPerIteration })
    view.mockRestore()
    return index
  }

  test('[S2] the event loop is not blocked while it reads an index of 40,000 Yjs client ids from the message of a thread', async () => {
    const structs = times(40_000, (i) => ({ client: 40_000 - i, clock: 0, structs: [{ gc: 1 }] }))
    const index = await arrive(DocumentIndex.of([update({ structs })]).toMessage())
    expect(index.size).toBe(40_000)
    expect(clocksOf(index).size).toBe(40_000)
  })

  test('[S2] the event loop is not blocked while it reads an index of 100,000 deleted ranges from the message of a thread', async () => {
    const count = 100_000
    const ranges = times(count, (i) => [i * 3, 1] as const)
    const parts = [
      struct({ content: text('x'.repeat(count * 3)) }),
      update({ deletes: [{ client: 5, ranges }] }),
    ]
    const index = await arrive(DocumentIndex.of(parts).toMessage())
    accept(index, update({ deletes: [{ client: 5, ranges: [[150_001, 1]] }] }))
    expect([150_000, 150_001, 150_002].map((clock) => index.isDeleted(5, clock, 1))).toEqual([
      true,
      true,
      false,
    ])
    expect(index.isDeleted(5, 150_000, 2)).toBe(true)
  })
})

describe('[V2] an index', () => {
  const abc = struct({ content: text('abc') })
  const indexOf = (...parts: Uint8Array[]) => DocumentIndex.of(parts)
  const codeFor = (index: DocumentIndex, bytes: Uint8Array) => {
    const verdict = index.check(bytes)
    return verdict.ok ? (verdict.value.hasChanges ? 'changes' : 'known') : verdict.fault.code
  }
  const deletes = (...ranges: [number, number][]) => update({ deletes: [{ client: 5, ranges }] })

  test('[V2] an index distinguishes changes from duplicates', () => {
    const index = indexOf(abc)
    expect([codeFor(index, abc), codeFor(index, deletes([0, 2]))]).toEqual(['known', 'changes'])
    accept(index, deletes([0, 2]))
    expect([deletes([0, 2]), deletes([1, 1]), deletes([1, 2])].map((bytes) => codeFor(index, bytes))).toEqual(
      ['known', 'known', 'changes'],
    )
    expect(codeFor(index, deletes([2, 2]))).toBe('future_delete')
  })

  test('[V2] an index passes mayWrite and the bounds to the validation', () => {
    const index = indexOf(abc)
    const more = update({ structs: [{ client: 5, clock: 3, structs: [{ gc: 1 }] }] })
    expect(index.check(more, { mayWrite: () => false })).toMatchObject({ fault: { code: 'foreign_client' } })
    expect(index.check(more, { bounds: { bytes: 3 } })).toMatchObject({ fault: { code: 'too_large' } })
    expect(index.check(more, { bounds: { bytes: 99 }, mayWrite: () => true })).toMatchObject({ ok: true })
  })

  test('[V2] an index refuses an update that was accepted for an earlier state', () => {
    const index = indexOf(abc)
    const more = update({ structs: [{ client: 5, clock: 3, structs: [{ gc: 1 }] }] })
    const verdict = index.check(more)
    if (!verdict.ok) throw new Error(verdict.fault.message)
    index.add(verdict.value)
    expect(() => index.add(verdict.value)).toThrow('earlier state')
    expect([...clocksOf(index)]).toEqual([[5, 4]])
  })

  test('[V2] an index returns the same array for an unchanged state vector', () => {
    const index = indexOf(abc)
    const before = index.stateVector()
    accept(index, deletes([0, 1]))
    expect(index.stateVector()).toBe(before)
    accept(index, update({ structs: [{ client: 2 ** 32 - 1, clock: 0, structs: [{ gc: 300 }] }] }))
    expect([...Y.decodeStateVector(index.stateVector())]).toEqual([
      [2 ** 32 - 1, 300],
      [5, 3],
    ])
  })

  test('[V2] an index does not add a client that a delete set names without ranges', async () => {
    const index = indexOf(abc)
    const named = update({
      deletes: [
        { client: 9, ranges: [] },
        { client: 5, ranges: [[0, 1]] },
      ],
    })
    accept(index, named)
    const moved = await DocumentIndex.fromMessage(index.toMessage())
    for (const one of [index, moved]) {
      expect([...clocksOf(one)]).toEqual([[5, 3]])
      const first = update({ structs: [{ client: 9, clock: 0, structs: [{ gc: 1 }] }] })
      expect(codeFor(one, first)).toBe('changes')
    }
  })

  test('[V2] an index has the right state vector with thousands of clients, whichever of them advances', async () => {
    const clocks = new Map(Array.from({ length: 5_000 }, (_, i) => [i * 7 + 1, 1]))
    const all = [...clocks.keys()].toReversed()
    const whole = update({ structs: all.map((client) => ({ client, clock: 0, structs: [{ gc: 1 }] })) })
    const index = await DocumentIndex.fromMessage(indexOf(whole).toMessage())
    for (const client of [1, 20_000 - (20_000 % 7) + 1, 3_000_000_000, 1]) {
      const clock = clocks.get(client) ?? 0
      accept(index, update({ structs: [{ client, clock, structs: [{ gc: 3 }] }] }))
      clocks.set(client, clock + 3)
      expect(sameMaps(clocksOf(index), clocks)).toBe(true)
    }
  })

  test('[V2] an index adds the deletes of at most 4,096 clients from one update, and calls no unknown delete known', () => {
    const all = Array.from({ length: 6_000 }, (_, i) => 6_000 - i)
    const index = indexOf(
      update({ structs: all.map((client) => ({ client, clock: 0, structs: [{ gc: 2 }] })) }),
    )
    const plain = indexOf(
      update({ structs: all.map((client) => ({ client, clock: 0, structs: [{ content: text('ab') }] })) }),
    )
    const deletesOf = (ranges: [number, number][]) =>
      update({ deletes: all.map((client) => ({ client, ranges })) })
    expect(codeFor(index, deletesOf([[0, 2]]))).toBe('known')
    expect(codeFor(plain, deletesOf([[0, 1]]))).toBe('changes')
    accept(plain, deletesOf([[0, 1]]))
    expect(codeFor(plain, deletesOf([[0, 1]]))).toBe('changes')
    expect(all.filter((client) => plain.isDeleted(client, 0, 1))).toHaveLength(4_096)
    accept(plain, deletesOf([[0, 1]]))
    expect(codeFor(plain, deletesOf([[0, 1]]))).toBe('known')
    expect(codeFor(plain, deletesOf([[0, 2]]))).toBe('changes')
  })

  test('[V2] an index accepts stored updates that it would refuse from a client', () => {
    const long = struct({ content: text('abcdef') })
    expect(codeFor(indexOf(abc), long)).toBe('gap')
    expect(difference(indexOf(abc, long), docOf(abc, long), 'nothing')).toBeUndefined()

    const later = update({ structs: [{ client: 5, clock: 3, structs: [{ gc: 1 }] }] })
    const withGap = Y.mergeUpdates([struct({ content: text('a') }), later])
    expect(codeFor(indexOf(abc), withGap)).toBe('gap')
    expect([...clocksOf(indexOf(abc, withGap))]).toEqual([[5, 4]])

    const proto = struct({ parent: '__proto__', content: text('a') })
    expect(codeFor(indexOf(), proto)).toBe('forbidden')
    expect([...clocksOf(indexOf(proto))]).toEqual([[5, 1]])

    const parts = struct({ key: 'k', content: any(1, 2) })
    expect(codeFor(indexOf(), parts)).toBe('malformed')
    expect(indexOf(parts).placeOf(5, 1)).toEqual({ depth: 1, isEntry: true })

    const deep = Array.from({ length: 200 }, (_, i) => ({
      ...(i > 0 && { parent: [5, i - 1] as const }),
      content: type(0),
    }))
    expect(codeFor(indexOf(), struct(...deep))).toBe('too_large')
    expect(indexOf(struct(...deep)).placeOf(5, 199)).toEqual({ depth: 200, isEntry: false })
  })

  test.each<[string, Uint8Array[]]>([
    ['bytes that are no update', [abc, Uint8Array.of(1, 2, 3)]],
    ['half an update', [abc.subarray(0, abc.length - 3)]],
    ['a gap', [abc, update({ structs: [{ client: 5, clock: 4, structs: [{ gc: 1 }] }] })]],
    ['unknown structs left out', [struct({ skip: 2 }, { gc: 1 })]],
    ['structs left out at the end', [abc, struct({ gc: 3 }, { skip: 1 })]],
    ['rows in the wrong order', [struct({ origin: [6, 0], content: text('a') }), abc]],
    ['deletes before their items', [deletes([0, 1]), abc]],
    ['an update of version 2', [Y.encodeStateAsUpdateV2(docOf(abc))]],
  ])('[V2] an index of a log with %s fails with DamagedLog', (_, parts) => {
    expect(() => DocumentIndex.of(parts)).toThrow(DamagedLog)
  })
})
