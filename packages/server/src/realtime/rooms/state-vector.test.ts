import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { faultOfStateVector, maxVectorClients, someClient, withoutUpdates } from './state-vector.ts'

const vectorOf = (entries: readonly (readonly [number, number])[]) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, entries.length)
    for (const number of entries.flat()) encoding.writeVarUint(encoder, number)
  })

/** Whether Yjs can read the bytes as a state vector. */
function isReadable(bytes: Uint8Array): boolean {
  try {
    const decoder = decoding.createDecoder(bytes)
    for (let left = decoding.readVarUint(decoder) * 2; left > 0; left--) decoding.readVarUint(decoder)
    return !decoding.hasContent(decoder)
  } catch {
    return false
  }
}

describe('[R8] state vectors', () => {
  test('[R8] a well-formed state vector has no fault and is read back unchanged', () => {
    const number = fc.nat({ max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number)), (entries) => {
        const vector = vectorOf(entries)
        expect(faultOfStateVector(vector)).toBeUndefined()
        const read: [number, number][] = []
        someClient(vector, (clientId, clock) => read.push([clientId, clock]) < 0)
        expect(read).toEqual(entries)
      }),
    )
  })

  test('[R8] bytes that Yjs cannot read have a fault', () => {
    const byte = fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 255 }))
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), (bytes) => {
        const vector = Uint8Array.from(bytes)
        if (!isReadable(vector)) expect(faultOfStateVector(vector)).toBeDefined()
      }),
    )
  })

  test('[S7.2] a state vector with more than 101,000 clients is refused', () => {
    const entries = Array.from({ length: maxVectorClients }, (_, client) => [client, 1] as const)
    expect(faultOfStateVector(vectorOf(entries))).toBeUndefined()
    expect(faultOfStateVector(vectorOf([...entries, [1, 1]]))).toBe(
      'A state vector has at most 101000 clients.',
    )
  })
})

test('[R7.2] what a state vector without queued updates lacks includes these updates, whoever sent them and in whatever order', () => {
  const [ada, bob] = [new Y.Doc(), new Y.Doc()]
  const updates: Uint8Array[] = []
  for (const doc of [ada, bob]) doc.on('update', (update: Uint8Array) => updates.push(update))
  const type = (doc: Y.Doc, text: string) =>
    doc.getText('content').insert(doc.getText('content').length, text)
  type(ada, 'one ')
  Y.applyUpdate(bob, Y.encodeStateAsUpdate(ada))
  updates.length = 0
  type(ada, 'two ')
  type(bob, 'three ')
  type(ada, 'four ')
  const committed = Y.mergeUpdates([Y.encodeStateAsUpdate(ada), Y.encodeStateAsUpdate(bob)])
  const all = Y.encodeStateVectorFromUpdate(committed)
  expect(withoutUpdates(all, [])).toBe(all)
  for (const queued of [updates, updates.toReversed()]) {
    const vector = withoutUpdates(all, queued)
    expect(Y.decodeStateVector(vector)).toEqual(
      new Map([
        [ada.clientID, 'one '.length],
        [bob.clientID, 0],
      ]),
    )
  }
})
