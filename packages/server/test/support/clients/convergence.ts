import { expect } from 'vitest'
import * as Y from 'yjs'

/** Polls until the assertion holds. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { interval: 5 })

/** Waits until the clients have loaded the content of their editors. */
export const synced = (...clients: { provider: { synced: boolean } }[]) =>
  eventually(() => clients.every(({ provider }) => provider.synced)).toBe(true)

/**
 * The whole content of a document; equal text for equal content. A copy encodes it, because whether a document stores
 * adjacent deletions in one piece or two depends on the order of their arrival.
 */
export function encodedContent(doc: Y.Doc): string {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return Buffer.from(Y.encodeStateAsUpdate(copy)).toString('base64')
}

/** The number of different results. */
const differences = (docs: Y.Doc[], of: (doc: Y.Doc) => string) => new Set(docs.map(of)).size

const encodedVector = (doc: Y.Doc) => Buffer.from(Y.encodeStateVector(doc)).toString('base64')

/**
 * Waits until the documents have the same content. Polls rarely, and encodes the content only when all have the same
 * insertions: encoding large documents would delay the server.
 */
export async function converged(...docs: Y.Doc[]): Promise<void> {
  const remaining = () => {
    const count = differences(docs, encodedVector)
    return count > 1 ? count : differences(docs, encodedContent)
  }
  await expect.poll(remaining, { interval: 50 }).toBe(1)
}
