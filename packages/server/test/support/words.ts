import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
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

export function textOf(...updates: Uint8Array[]): string {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('content').toJSON()
}

/** The text of an editor that a test read over REST. */
export const textIn = ({ data }: { data?: unknown }): string => (typeof data === 'string' ? data : '')

/** An empty update. The server acknowledges it after all earlier updates. */
export const nothing = Uint8Array.of(0, 0)
export const isNothing = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0

/** Whether the first update contains all changes of the second one. */
export function covers(update: Uint8Array, part: Uint8Array): boolean {
  const clocks = Y.parseUpdateMeta(update).to
  return [...Y.parseUpdateMeta(part).to].every(([client, clock]) => (clocks.get(client) ?? 0) >= clock)
}

export function awarenessOf(client: number, clock: number, state: object | null): Uint8Array {
  return encoding.encode((encoder) => {
    for (const number of [1, client, clock]) encoding.writeVarUint(encoder, number)
    encoding.writeVarString(encoder, JSON.stringify(state))
  })
}

interface AwarenessEntry {
  client: number
  clock: number
  json: string
}

export function awarenessIn(bytes: Uint8Array): AwarenessEntry[] {
  const decoder = decoding.createDecoder(bytes)
  return Array.from({ length: decoding.readVarUint(decoder) }, () => {
    const client = decoding.readVarUint(decoder)
    const clock = decoding.readVarUint(decoder)
    return { client, clock, json: decoding.readVarString(decoder) }
  })
}
