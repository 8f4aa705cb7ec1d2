import * as Y from 'yjs'

/** Returns the text that every author of the benchmark edits. */
export const contentOf = (doc: Y.Doc): Y.Text => doc.getText('content')

export interface Author {
  /** The Yjs client id of the updates. */
  clientId: number
  /** Update n inserts the n-th character. After it, the clock is n + 1. */
  updates: Uint8Array[]
}

/** Builds the updates of one author, one character each, before the run, so that the load generator only has to send. */
export function createAuthor(updateCount: number): Author {
  const { clientID, updates } = record((doc) => {
    for (let at = 0; at < updateCount; at++) contentOf(doc).insert(at, letter(at))
  })
  return { clientId: clientID, updates }
}

/** Returns the updates that paste this many characters into a document, in pieces. */
export function pasteUpdates(characterCount: number, pieceLength = 16_384): Uint8Array[] {
  return record((doc) => {
    for (let at = 0; at < characterCount; at += pieceLength) {
      contentOf(doc).insert(
        at,
        Array.from({ length: pieceLength }, (_, index) => letter(at + index)).join(''),
      )
    }
  }).updates
}

/** Returns the updates of a person who types here and there in a document. Every twentieth update is a deletion. */
export function editUpdates(updateCount: number): Uint8Array[] {
  return record((doc) => createTypist(doc)(updateCount)).updates
}

/** Returns a function that makes this many changes like a person who types here and there in a document. */
export function createTypist(doc: Y.Doc): (changeCount: number) => void {
  const random = seededRandom(1)
  const text = contentOf(doc)
  let at = 0
  let n = 0
  return (changeCount) => {
    for (const end = n + changeCount; n < end; n++) {
      if (n % 20 === 19 && at > 0) text.delete(--at, 1)
      else text.insert(at++, letter(n))
      if (n % 20 === 19) at = Math.floor(random() * text.length)
    }
  }
}

/** Returns the text after all of these updates. */
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

/** Returns a generator of random numbers that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
