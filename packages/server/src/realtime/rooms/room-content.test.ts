import { afterAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { CommittedLog } from './committed-log.ts'
import { createCrdt, type Crdt } from '../../crdt/crdt.ts'
import { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { createDocumentThreads } from '../../../test/support/updates/document-work.ts'
import { type Content, RoomContent } from './room-content.ts'

const nothing = Uint8Array.of(0)
const anything = () => true

const threads = createDocumentThreads()
const own = createCrdt(threads)
afterAll(() => threads.close())

/** A room with one writer. Each of its changes is a row. */
function scene(crdt: Partial<Crdt> = {}) {
  const doc = new Y.Doc()
  const committed = new CommittedLog(undefined)
  doc.on('update', (row: Uint8Array) => committed.append(committed.seq + 1, row))
  const text = doc.getText('content')
  const content = new RoomContent({
    committed,
    crdt: { ...own, ...crdt },
    source: () => ({ apiKey: 'key', content: `${committed.seq}` }),
    index: () => DocumentIndex.of(committed.parts),
    isOpen: () => true,
  })
  return { doc, committed, text, content }
}

/** The text of a client that received this content. */
function textOf({ recent, body }: Content, known?: Y.Doc): string {
  const doc = known ?? new Y.Doc()
  if (recent) Y.applyUpdate(doc, recent)
  Y.applyUpdate(doc, body)
  return doc.getText('content').toString()
}

const large = 'x'.repeat(300_000)

describe('the content of a room', () => {
  test('[R14.2] all readers of a large document share its bytes, and get later changes as a second update', async () => {
    const { text, content, committed } = scene()
    text.insert(0, large)
    const first = await content.missingFor(nothing, anything)
    text.insert(0, 'a')
    text.insert(3, 'b')
    const second = await content.missingFor(nothing, anything)
    expect(second.body).toBe(first.body)
    expect(second.recent?.length).toBeLessThan(100)
    expect(textOf(second)).toBe(text.toString())
    text.insert(1, 'c')
    text.delete(2, 10)
    const third = await content.missingFor(nothing, anything)
    expect(third.body).toBe(first.body)
    expect(textOf(third)).toBe(text.toString())
    expect(third.isHeld()).toBe(true)
    committed.replaceWithSnapshot(committed.seq, Y.encodeStateAsUpdate(new Y.Doc()))
    expect(third.isHeld()).toBe(false)
  })

  test('[R14.2] a small document is sent as one update', async () => {
    const { text, content } = scene()
    expect(textOf(await content.missingFor(nothing, anything))).toBe('')
    text.insert(0, 'one ')
    text.insert(4, 'two')
    const answer = await content.missingFor(nothing, anything)
    expect(answer.recent).toBeUndefined()
    expect(textOf(answer)).toBe('one two')
  })

  test('[R14.2] concurrent readers share one merge, and a late reader gets the rows that are stored meanwhile', async () => {
    let merges = 0
    const { text, content } = scene({
      merge: async (source, parts) => {
        merges++
        const merged = await own.merge(source, parts)
        await new Promise((resolve) => setImmediate(resolve))
        return merged
      },
    })
    for (let part = 0; part < 10; part++) text.insert(0, `${part}`.repeat(100_000))
    const early = [content.missingFor(nothing, anything), content.missingFor(nothing, anything)]
    text.insert(0, 'late ')
    const late = content.missingFor(nothing, anything)
    const answers = await Promise.all([...early, late])
    expect(merges).toBe(1)
    expect(answers[1]?.body).toBe(answers[0]?.body)
    expect(textOf(answers[2] as Content)).toBe(text.toString())
  })

  test('[R14.3] a reader that has most of a document gets the difference, or the whole document if there is no memory for the difference', async () => {
    const { doc, text, content } = scene()
    text.insert(0, large)
    const known = new Y.Doc()
    Y.applyUpdate(known, Y.encodeStateAsUpdate(doc))
    const stateVector = Y.encodeStateVector(known)
    text.insert(0, 'y'.repeat(100_000))
    const difference = await content.missingFor(stateVector, anything)
    expect(difference.body.length).toBeLessThan(110_000)
    expect(difference.isHeld()).toBe(false)
    const whole = await content.missingFor(stateVector, () => false)
    expect(whole.body.length).toBeGreaterThan(300_000)
    expect(whole.isHeld()).toBe(true)
    expect(textOf(whole, known)).toBe(text.toString())
  })

  test('[R14.3] a reader that has little of a large document gets the shared bytes, and no difference is computed', async () => {
    const { doc, text, content } = scene({ diff: () => Promise.reject(new Error('not needed')) })
    text.insert(0, large)
    for (const clock of [1, 100_000]) {
      const stateVector = Y.encodeStateVector(new Map([[doc.clientID, clock]]))
      expect((await content.missingFor(stateVector, anything)).isHeld()).toBe(true)
    }
  })
})
