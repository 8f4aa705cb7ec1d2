import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { OutgoingUpdates } from './outgoing-updates.ts'

/** A document, a copy from before, and what was changed since. */
function change(times: number) {
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

test.each([1, 31, 32, 5000])('[K7] %i changes become one update that holds all of them', (times) => {
  const { doc, copy, outgoing } = change(times)
  const updates = outgoing.take(1_000_000)
  expect(updates).toHaveLength(1)
  for (const update of updates) Y.applyUpdate(copy, update)
  expect(copy.getText().toJSON()).toBe(doc.getText().toJSON())
  expect(outgoing.isEmpty).toBe(true)
  expect(outgoing.take(1_000_000)).toEqual([])
})

test('[K7] changes that are too large together go one by one', () => {
  const { doc, copy, outgoing } = change(3)
  const updates = outgoing.take(30)
  expect(updates).toHaveLength(4)
  for (const update of updates) Y.applyUpdate(copy, update)
  expect(copy.getText().toJSON()).toBe(doc.getText().toJSON())
})
