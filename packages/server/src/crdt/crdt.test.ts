import { afterAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { testCrdt } from '../../test/support/updates/document-work.ts'
import { freeIteration } from '../../test/support/measures/event-loop.ts'
import { expectShortIterations } from '../../test/support/measures/loop-work.ts'
import { any, docOf, slowDocument, struct, text, update } from '../../test/support/updates/scenes.ts'
import { rounds } from '../../test/support/random/effort.ts'
import { createRandom, type Random } from '../../test/support/random/random.ts'
import { randomSteps, Session } from '../../test/support/updates/sessions.ts'
import { DamagedLog } from './content/errors.ts'
import { timeLimitFor } from './content/parts.ts'
import { DocumentIndex } from './updates/document-index.ts'

const inline = testCrdt({ inlineBytes: Infinity })
const threaded = testCrdt({ inlineBytes: 0 })
afterAll(() => Promise.all([inline.close(), threaded.close()]))

/** The updates of a session, and the resulting document. */
function rowsOf(random: Random, steps: number): { server: Y.Doc; rows: Uint8Array[] } {
  const live = new Session(3)
  const rows = rowsFrom(live.server)
  expect(live.run(randomSteps(random, steps))).toBeUndefined()
  return { server: live.server, rows }
}

/** The updates of a document from now on. */
function rowsFrom(doc: Y.Doc): Uint8Array[] {
  const rows: Uint8Array[] = []
  doc.on('update', (bytes: Uint8Array) => rows.push(bytes))
  return rows
}

/** Each letter is an update of its own. */
function keystrokes(count: number): Uint8Array[] {
  const doc = new Y.Doc()
  const rows = rowsFrom(doc)
  for (let i = 0; i < count; i++) doc.getText('t').insert((i * 7919) % (i + 1), 'x')
  return rows
}

function contentOf(doc: Y.Doc): unknown {
  const roots = [
    doc.getText('t').toDelta(),
    doc.getMap('m').toJSON(),
    doc.getArray('a').toJSON(),
    doc.getXmlFragment('x').toJSON(),
  ]
  return JSON.parse(JSON.stringify(roots, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
}

describe.each([
  ['on the event loop', inline],
  ['in a thread', threaded],
])('[V5] the work of open editors on documents, %s', (_, crdt) => {
  test('[V5] merge, compact and diff preserve the content of a document, and index describes it', async () => {
    const random = createRandom()
    for (let i = 0; i < rounds(2); i++) {
      const { server, rows } = rowsOf(random, 120)
      const expected = contentOf(server)
      const cut = random(rows.length)
      const snapshot = await crdt.compact(rows.slice(0, cut))
      const parts = [snapshot, ...rows.slice(cut)]
      for (const bytes of [await crdt.merge(parts), await crdt.merge(rows), await crdt.compact(parts)]) {
        expect(contentOf(docOf(bytes))).toEqual(expected)
      }
      const early = docOf(...rows.slice(0, random(rows.length)))
      Y.applyUpdate(early, await crdt.diff(parts, Y.encodeStateVector(early)))
      expect(contentOf(early)).toEqual(expected)
      expect(Y.encodeStateVector(early)).toEqual(Y.encodeStateVector(server))
      const index = await crdt.index(parts)
      expect(index.toMessage()).toEqual(DocumentIndex.of(parts).toMessage())
    }
  })

  test('[V5] diff returns only the missing structs, and the whole delete set', async () => {
    const doc = docOf(struct({ content: text('abc') }))
    const before = Y.encodeStateAsUpdate(doc)
    const deletes = update({ deletes: [{ client: 5, ranges: [[0, 1]] }] })
    const lacking = await crdt.diff([before, deletes], Y.encodeStateVector(doc))
    expect(lacking).toEqual(deletes)
    expect(await crdt.diff([before], Uint8Array.of(0))).toBe(before)
    expect(await crdt.merge([before])).toBe(before)
    expect(await crdt.merge([])).toEqual(update({}))
    expect(await crdt.diff([], Uint8Array.of(0))).toEqual(update({}))
    await expect(crdt.diff([before], Uint8Array.of(5))).rejects.toThrow(Error)
  })

  test('[V5] compact garbage-collects deleted items and joins neighbouring ones', async () => {
    const doc = new Y.Doc()
    const rows = rowsFrom(doc)
    for (let i = 0; i < 500; i++) doc.getText('t').insert(i, 'x')
    for (let i = 0; i < 400; i++) doc.getText('t').delete(50, 1)
    const compacted = await crdt.compact(rows)
    expect(compacted.length).toBeLessThan(200)
    expect(docOf(compacted).getText('t').length).toBe(100)
  })

  test('[V5] compact and index fail for a damaged log', async () => {
    const [first, ...others] = keystrokes(5)
    expect(first).toBeDefined()
    await expect(crdt.compact(others)).rejects.toThrow(DamagedLog)
    await expect(crdt.index(others)).rejects.toThrow(DamagedLog)
    await expect(crdt.compact([Uint8Array.of(9, 9)])).rejects.toThrow(Error)
  })

  test('[V5] merge and index do not change the parts, even if these are views of one buffer', async () => {
    const rows = keystrokes(50)
    const shared = Buffer.concat(rows)
    let end = 0
    const views = rows.map((row) => shared.subarray(end, (end += row.length)))
    for (const parts of [rows, views]) {
      expect(contentOf(docOf(await crdt.merge(parts)))).toEqual(contentOf(docOf(...rows)))
      expect(await crdt.index(parts)).toBeInstanceOf(DocumentIndex)
    }
    expect(Buffer.concat(views)).toEqual(Buffer.concat(rows))
  })
})

describe('[V5] the thread of documents', () => {
  test('[V5] merge and compact join 20,000 small parts within the time limit of a thread', async () => {
    const rows = keystrokes(20_000)
    for (const run of [threaded.merge, threaded.compact]) {
      expect(docOf(await run(rows)).getText('t').length).toBe(20_000)
    }
  })

  test.each([
    ['one by one', 20_000, 1],
    ['in the most fragmented updates that are allowed', 20, 2_000],
  ])(
    '[V5] compact and merge join an array of many values that were written %s',
    async (_how, updates, size) => {
      const rows = Array.from({ length: updates }, (_row, i) => {
        const clock = i * size
        const structs = Array.from({ length: size }, (_item, j) => ({
          ...(clock + j > 0 && { origin: [5, clock + j - 1] as const }),
          content: any(j),
        }))
        return update({ structs: [{ client: 5, clock, structs }] })
      })
      for (const run of [threaded.compact, threaded.merge]) {
        const bytes = await run(rows)
        expect(Y.decodeUpdate(bytes).structs.length).toBeLessThan(10)
        expect(docOf(bytes).getArray('r').length).toBe(updates * size)
      }
    },
  )

  /** About 300 KB: paragraphs, each with an attribute and a text. */
  function largeDocument(): Uint8Array {
    const doc = new Y.Doc()
    doc.transact(() => {
      const paragraphs = Array.from({ length: 2_000 }, (_, i) => {
        const paragraph = new Y.XmlElement('paragraph')
        paragraph.setAttribute('level', String(i % 6))
        paragraph.insert(0, [new Y.XmlText('lorem ipsum dolor sit amet '.repeat(4) + String(i))])
        return paragraph
      })
      doc.getXmlFragment('x').insert(0, paragraphs)
    })
    return Y.encodeStateAsUpdate(doc)
  }

  test('[V5] work of a thread on 6,000 items does not block the event loop', async () => {
    const crdt = testCrdt()
    const snapshot = largeDocument()
    expect(snapshot.length).toBeGreaterThan(200_000)
    const more = docOf(snapshot)
    const stateVector = Y.encodeStateVector(more)
    more.getXmlFragment('x').insert(0, [new Y.XmlElement('title')])
    const parts = [snapshot, Y.encodeStateAsUpdate(more, stateVector)]
    const work = {
      index: () => crdt.index(parts),
      compact: () => crdt.compact(parts),
      diff: () => crdt.diff(parts, stateVector),
      merge: () => crdt.merge(parts),
    }
    // The first call starts the thread.
    await crdt.diff(parts, stateVector)
    for (const run of Object.values(work)) {
      await expectShortIterations(run)
    }
    await crdt.close()
  })

  test('[V5] a thread is terminated at its time limit, and so is the next one; after close, work fails', async () => {
    const crdt = testCrdt({ inlineBytes: 0, limitMs: 1 })
    const rows = keystrokes(2_000)
    await expect(crdt.compact(rows)).rejects.toThrow('longer than 1 ms')
    await expect(crdt.index(rows)).rejects.toThrow('longer than 1 ms')
    await crdt.close()
    await expect(crdt.index(rows)).rejects.toThrow('closed')
  })

  test('[V5] a small hostile document exceeds the time limit of a thread, and never blocks the event loop', async () => {
    const parts = [slowDocument(10_000)]
    // crdt.long.test.ts waits for the limit that its size gives.
    expect(timeLimitFor(parts[0]!.length)).toBeLessThan(10_000)
    const crdt = testCrdt({ limitMs: 1_000 })
    await expectShortIterations(async () => {
      const slow = expect(crdt.compact(parts)).rejects.toThrow('longer than')
      expect((await crdt.index(parts)).size).toBe(2)
      await slow
      expect(await crdt.compact(keystrokes(300))).toBeInstanceOf(Uint8Array)
    })
    await crdt.close()
  })

  test('[V5] open editors start no thread for small documents', async () => {
    const crdt = testCrdt({ limitMs: 1 })
    const rows = keystrokes(100)
    await freeIteration()
    expect(await crdt.index(rows)).toBeInstanceOf(DocumentIndex)
    await freeIteration()
    expect(docOf(await crdt.compact(rows)).getText('t').length).toBe(100)
    await crdt.close()
  })
})
