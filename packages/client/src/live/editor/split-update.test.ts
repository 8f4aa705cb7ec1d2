import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { splitUpdate } from './split-update.ts'

const contentOf = (doc: Y.Doc) => ({
  text: doc.getText('text').toDelta() as unknown,
  list: doc.getArray('list').toJSON() as unknown,
  map: doc.getMap('map').toJSON(),
  xml: doc.getXmlFragment('xml').toString(),
})

/** Applies the parts one by one to the document that they build on. Fails if a part has to wait for a later one. */
function applyInOrder(before: Uint8Array, parts: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, before)
  for (const part of parts) {
    Y.applyUpdate(doc, part)
    expect(doc.store.pendingStructs).toBeNull()
    expect(doc.store.pendingDs).toBeNull()
  }
  return doc
}

test('[K7.2] an update of several clients that build on each other is divided into parts that can be applied in their order', () => {
  const step = fc.record({
    who: fc.nat(2),
    what: fc.constantFrom('type', 'delete', 'list', 'map', 'nest', 'sync'),
    at: fc.nat(1000),
    text: fc.string({ maxLength: 60, unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), fc.nat(30), (steps, known) => {
      const docs = [new Y.Doc(), new Y.Doc(), new Y.Doc()] as const
      let before = Y.encodeStateAsUpdate(docs[0])
      for (const [index, { who, what, at, text }] of steps.entries()) {
        const doc = docs[who as 0]
        const shared = doc.getText('text')
        if (what === 'type') shared.insert(at % (shared.length + 1), text)
        else if (what === 'delete' && shared.length > 0)
          shared.delete(at % shared.length, Math.min(5, shared.length - (at % shared.length)))
        else if (what === 'list') doc.getArray('list').insert(0, [text, at, { text }])
        else if (what === 'map') doc.getMap('map').set(String(at % 3), text)
        else if (what === 'nest') {
          const element = new Y.XmlElement('p')
          doc.getXmlFragment('xml').insert(0, [element])
          element.insert(0, [new Y.XmlText(text)])
        } else if (what === 'sync') for (const other of docs) Y.applyUpdate(doc, Y.encodeStateAsUpdate(other))
        if (index === known) before = Y.encodeStateAsUpdate(docs[0])
      }
      for (const other of docs) Y.applyUpdate(docs[0], Y.encodeStateAsUpdate(other))
      const update = Y.encodeStateAsUpdate(docs[0], Y.encodeStateVectorFromUpdate(before))
      const maxBytes = 4 * 1024 + 100
      // With so few bytes an update that fits is divided too.
      const parts = splitUpdate(update, Math.min(maxBytes, update.length - 1))
      expect(contentOf(applyInOrder(before, parts))).toEqual(contentOf(docs[0]))
    }),
    { numRuns: 150 },
  )
})

test('[K7.2] a long text, also of characters that take two units, and a long list are divided, and no part exceeds the limit', () => {
  const doc = new Y.Doc()
  doc.getText('text').insert(0, 'aé€😀'.repeat(100_000))
  doc.getArray('list').insert(
    0,
    Array.from({ length: 60_000 }, (_, index) => `value ${index}`),
  )
  doc.getText('text').insert(5, 'typed later')
  doc.getText('text').delete(0, 3)
  const maxBytes = 64 * 1024
  const parts = splitUpdate(Y.encodeStateAsUpdate(doc), maxBytes)
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(maxBytes)
  expect(contentOf(applyInOrder(Uint8Array.of(0, 0), parts))).toEqual(contentOf(doc))
})

test('[K7.2] a list of many small values and some large ones is divided by the sizes of its values', () => {
  const doc = new Y.Doc()
  const small = Array.from({ length: 500 }, (_, index) => `value ${index}`)
  const large = Array.from({ length: 4 }, (_, index) => String(index).repeat(40_000))
  doc.getArray('list').insert(0, [...small, ...large])
  const maxBytes = 64 * 1024
  const parts = splitUpdate(Y.encodeStateAsUpdate(doc), maxBytes)
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(maxBytes)
  expect(contentOf(applyInOrder(Uint8Array.of(0, 0), parts))).toEqual(contentOf(doc))
})

test('[K7.2] very many deletions are divided, also those of what the server has', () => {
  const doc = new Y.Doc()
  const text = doc.getText('text')
  text.insert(0, 'x'.repeat(10_000))
  const before = Y.encodeStateAsUpdate(doc)
  doc.transact(() => {
    for (let at = 5_000; at > 0; at--) text.delete(2 * at - 1, 1)
    text.insert(0, 'typed later')
  })
  const maxBytes = 8 * 1024
  const parts = splitUpdate(Y.encodeStateAsUpdate(doc, Y.encodeStateVectorFromUpdate(before)), maxBytes)
  expect(parts.length).toBeGreaterThan(2)
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(maxBytes)
  expect(contentOf(applyInOrder(before, parts))).toEqual(contentOf(doc))
})

test('[K7.2] a single value that exceeds the limit stays in one part, and a small update is not divided', () => {
  const doc = new Y.Doc()
  doc.getMap('map').set('bytes', new Uint8Array(100_000))
  doc.getText('text').insert(0, 'x'.repeat(100_000))
  const update = Y.encodeStateAsUpdate(doc)
  const sizes = splitUpdate(update, 64 * 1024).map(({ length }) => length)
  expect(sizes.filter((size) => size > 64 * 1024)).toHaveLength(1)
  expect(splitUpdate(update, update.length)[0]).toBe(update)
})
