import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { createRandom } from '../../../test/support/random/random.ts'
import { CommittedLog } from './committed-log.ts'

/** The text of the document that the parts describe, and whether no updates are missing. */
function contentOf(parts: readonly Uint8Array[]) {
  const doc = new Y.Doc()
  for (const part of parts) Y.applyUpdate(doc, part)
  return { text: doc.getText('content').toString(), isWhole: doc.store.pendingStructs === null }
}

test('[R7.1] the committed log describes the whole document after rows, merges and snapshots in any order', () => {
  const below = createRandom()
  for (let run = 0; run < 30; run++) {
    const doc = new Y.Doc()
    const log = new CommittedLog(undefined)
    let seq = 0
    doc.on('update', (update: Uint8Array) => log.append(++seq, update))
    /** Merges and snapshots that are built but not in the log yet. */
    const unfinished: (() => void)[] = []
    for (let step = 0; step < 60; step++) {
      const text = doc.getText('content')
      const { parts, seq: upTo } = log
      const what = below(6)
      if (what === 0 && parts.length > 0) {
        const whole = Y.mergeUpdates(parts)
        unfinished.push(() => log.replaceWithMerged(upTo, whole))
      } else if (what === 1 && upTo > 0) {
        const snapshot = Y.encodeStateAsUpdate(doc)
        unfinished.push(() => log.replaceWithSnapshot(upTo, snapshot))
      } else if (what === 2 && unfinished.length > 0) unfinished.splice(below(unfinished.length), 1)[0]?.()
      else if (what === 3 && text.length > 0) text.delete(below(text.length), 1)
      else text.insert(below(text.length + 1), String(step % 10))
      expect(contentOf(log.parts)).toEqual({ text: text.toString(), isWhole: true })
      expect(log.seq).toBe(seq)
    }
    log.replaceWithSnapshot(seq, Y.encodeStateAsUpdate(doc))
    expect([log.parts.length, log.tail]).toEqual([1, { updates: 0, bytes: 0 }])
  }
})
