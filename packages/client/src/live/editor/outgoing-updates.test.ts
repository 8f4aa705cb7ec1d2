import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { OutgoingUpdates } from './outgoing-updates.ts'

/** Changes a document. Returns the document, a copy from before the changes, and the changes as outgoing updates. */
function changeDocument(times: number) {
  const doc = new Y.Doc()
  doc.getText().insert(0, 'before ')
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  const outgoing = new OutgoingUpdates(doc)
  doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, { beforeState }: Y.Transaction) =>
    outgoing.add(update, beforeState),
  )
  for (let time = 0; time < times; time++) doc.getText().insert(7 + time, String(time % 10))
  if (times > 0) doc.getText().delete(0, 3)
  return { doc, copy, outgoing }
}

test.each([1, 31, 32, 5000])(
  '[K7] %i outgoing changes become one update that contains all of them',
  (times) => {
    const { doc, copy, outgoing } = changeDocument(times)
    const updates = outgoing.take(1_000_000)
    expect(updates).toHaveLength(1)
    for (const update of updates) Y.applyUpdate(copy, update)
    expect(copy.getText().toJSON()).toBe(doc.getText().toJSON())
    expect(outgoing.isEmpty).toBe(true)
    expect(outgoing.take(1_000_000)).toEqual([])
  },
)

test('[K7] outgoing changes that are too large for one update stay separate', () => {
  const { doc, copy, outgoing } = changeDocument(3)
  const updates = outgoing.take(30)
  expect(updates).toHaveLength(4)
  for (const update of updates) Y.applyUpdate(copy, update)
  expect(copy.getText().toJSON()).toBe(doc.getText().toJSON())
})
