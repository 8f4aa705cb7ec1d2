import * as Y from 'yjs'

/** An update that inserts a word and depends on no other update. */
export function wordUpdate(word: string): Uint8Array {
  const doc = new Y.Doc({ guid: word })
  doc.getText('content').insert(0, `<${word}>`)
  return Y.encodeStateAsUpdate(doc)
}

/** The words of `wordUpdate` in a text, sorted. */
export const wordsIn = (text: string): string[] =>
  [...text.matchAll(/<([^>]*)>/g)].map(([, word]) => word as string).sort()

/** The text of a document with these updates. */
export function textOf(...updates: Uint8Array[]): string {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('content').toJSON()
}

/** The text of an editor that a test read over REST. */
export const textIn = ({ data }: { data?: unknown }): string => (typeof data === 'string' ? data : '')

/** An update without changes. The server acknowledges it after all earlier updates. */
export const emptyUpdate = Uint8Array.of(0, 0)
export const isEmptyUpdate = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0

/** Returns whether the first update contains all insertions of the second one, by their clocks. */
export function covers(update: Uint8Array, part: Uint8Array): boolean {
  const clocks = Y.parseUpdateMeta(update).to
  return [...Y.parseUpdateMeta(part).to].every(([client, clock]) => (clocks.get(client) ?? 0) >= clock)
}
