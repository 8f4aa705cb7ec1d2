/** Measures the time to validate one keystroke, and updates of 1 MiB. Reports the best of several rounds. */
import * as Y from 'yjs'
import { knownDoc } from '../packages/server/test/support/updates/known-doc.ts'
import { type Options, validateUpdate } from '../packages/server/src/crdt/updates/validate-update.ts'

const rounds = 10

function report(
  name: string,
  bytes: Uint8Array,
  known: Map<number, number>,
  options: Options,
  times: number,
) {
  let shortestMs = Infinity
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    for (let i = 0; i < times; i++) validateUpdate(bytes, known, options)
    shortestMs = Math.min(shortestMs, (performance.now() - startedAt) / times)
  }
  console.log(`${name}: ${bytes.length} bytes in ${(shortestMs * 1000).toFixed(1)} µs`)
}

const doc = new Y.Doc()
const text = doc.getText('t')
for (let i = 0; i < 500; i++) text.insert((i * 7919) % (text.length + 1), 'some words')
const known = Y.decodeStateVector(Y.encodeStateVector(doc))
let keystroke: Uint8Array = new Uint8Array()
doc.once('update', (update: Uint8Array) => (keystroke = update))
text.insert(100, 'x')
report('keystroke', keystroke, known, { ...knownDoc(doc), mayWrite: () => true }, 40_000)

const ofText = new Y.Doc()
ofText.getText('t').insert(0, 'some wörds 😀'.repeat(65_000))
report('one struct', Y.encodeStateAsUpdate(ofText), new Map(), {}, 1)

const ofStructs = new Y.Doc()
for (let i = 0; i < 24_500; i++) {
  const content = ofStructs.getText('t')
  content.insert((i * 7919) % (content.length + 1), 'abcde')
}
report('49,000 structs', Y.encodeStateAsUpdate(ofStructs), new Map(), {}, 1)
