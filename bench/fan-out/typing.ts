import * as Y from 'yjs'

/** The text that every author of the benchmark edits. */
export const contentOf = (doc: Y.Doc): Y.Text => doc.getText('content')

export interface Author {
  clientId: number
  /** Update n inserts the n-th character. After it, the clock is n + 1. */
  updates: Uint8Array[]
}

/** The updates of one author, one character each, built beforehand so that the load generator only has to send. */
export function typedBy(count: number): Author {
  const { clientID, updates } = record((doc) => {
    for (let at = 0; at < count; at++) contentOf(doc).insert(at, letter(at))
  })
  return { clientId: clientID, updates }
}

/** A document of `characters` characters, pasted in pieces. */
export function pasted(characters: number, piece = 16_384): Uint8Array[] {
  return record((doc) => {
    for (let at = 0; at < characters; at += piece) {
      contentOf(doc).insert(at, Array.from({ length: piece }, (_, index) => letter(at + index)).join(''))
    }
  }).updates
}

/** A document edited by a person: text typed here and there, and every twentieth character deleted. */
export function edited(count: number): Uint8Array[] {
  const random = seededRandom(1)
  return record((doc) => {
    const text = contentOf(doc)
    let at = 0
    for (let n = 0; n < count; n++) {
      if (n % 20 === 19 && at > 0) text.delete(--at, 1)
      else text.insert(at++, letter(n))
      if (n % 20 === 19) at = Math.floor(random() * text.length)
    }
  }).updates
}

/** The text after all of these updates. */
export function textOf(updates: Iterable<Uint8Array>): string {
  const doc = new Y.Doc()
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  const text = contentOf(doc).toJSON()
  doc.destroy()
  return text
}

function record(write: (doc: Y.Doc) => void): { clientID: number; updates: Uint8Array[] } {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  write(doc)
  return { clientID: doc.clientID, updates }
}

const letter = (n: number) => String.fromCodePoint(97 + (n % 26))

/** The same numbers in every run (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
